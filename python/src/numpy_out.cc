#include "dovetail/python/src/numpy_out.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/src/error.h"
#include "dovetail/python/src/host_ready.h"
#include "dovetail/python/src/numpy_abi.h"
#include "dovetail/python/src/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// NumPy takes no null pointer for an array without elements.
char no_elements[16];

// Types that take ml_dtypes, and programs whose NumPy has another ABI.
PyObject* BySlowPath(PyObject* self) {
  nb::object module = nb::steal(PyImport_ImportModule("dovetail._numpy"));
  if (!module.is_valid()) return nullptr;
  return PyObject_CallMethod(module.ptr(), "to_numpy", "O", self);
}

}  // namespace

PyObject* MakeNumPyArray(const TensorView& view, PyObject* owner) {
  const NumPyAbi* numpy = LoadedNumPy();
  const int type_num = NumPyFromDType(view.dtype);
  if (numpy == nullptr || type_num < 0) return nullptr;
  const int64_t itemsize = view.dtype.itemsize();
  Py_ssize_t strides[Layout::kMaxRank];
  for (int i = 0; i < view.rank(); ++i) strides[i] = WrappingMultiply(view.strides[i], itemsize);
  PyObject* descr = NewDescr(*numpy, type_num);
  if (descr == nullptr) return nullptr;
  PyObject* array = numpy->new_from_descr(
      numpy->ndarray, descr, view.rank(), reinterpret_cast<const Py_ssize_t*>(view.shape.data()),
      strides, view.data != nullptr ? view.data : no_elements,
      view.access == Access::kReadOnly ? 0 : kNumPyWriteable, nullptr);
  if (array == nullptr) return nullptr;
  if (numpy->set_base_object(array, Py_NewRef(owner)) != 0) {
    Py_DECREF(array);
    return nullptr;
  }
  return array;
}

PyObject* NumPyMethod(PyObject* self, PyObject*) {
  const Tensor& tensor = AsTensor(self);
  if (AsTensorObject(self)->requires_grad) return RaiseRequiresGrad();
  if (!IsHostAccessible(tensor.device().type)) {
    return RaiseExchange("NumPy can't reach memory on " + tensor.device().ToString() +
                         "; copy the tensor to the CPU first.");
  }
  if (!WaitUntilReady(tensor)) return nullptr;
  if (LoadedNumPy() == nullptr) {
    nb::object numpy = nb::steal(PyImport_ImportModule("numpy"));
    if (!numpy.is_valid()) return nullptr;
  }
  PyObject* array = MakeNumPyArray(tensor.view(), self);
  return array != nullptr || PyErr_Occurred() ? array : BySlowPath(self);
}

PyObject* ArrayMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  nb::object array = nb::steal(NumPyMethod(self, nullptr));
  if (!array.is_valid() || (nargs == 0 && kwnames == nullptr)) return array.release().ptr();
  nb::object convert = nb::steal(PyObject_GetAttrString(array.ptr(), "__array__"));
  return convert.is_valid() ? PyObject_Vectorcall(convert.ptr(), args, nargs, kwnames) : nullptr;
}

}  // namespace dovetail::python
