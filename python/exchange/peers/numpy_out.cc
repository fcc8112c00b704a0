#include "dovetail/python/exchange/peers/numpy_out.h"

#include "dovetail/python/exchange/base/numpy_abi.h"

namespace dovetail::python {
namespace {

// NumPy takes no null pointer for an array without elements.
char no_elements[16];

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

}  // namespace dovetail::python
