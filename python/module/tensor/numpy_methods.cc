#include <nanobind/nanobind.h>

#include <optional>

#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/numpy_abi.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Types that take ml_dtypes, and programs whose NumPy has another ABI.
PyObject* BySlowPath(PyObject* self) {
  nb::object module = nb::steal(PyImport_ImportModule("dovetail._numpy"));
  if (!module.is_valid()) return nullptr;
  return PyObject_CallMethod(module.ptr(), "to_numpy", "O", self);
}

// Under no_copies(): ExchangeError if `array`, which has the tensor's memory, would be copied for
// what __array__(dtype, copy) asks.
bool CheckTakesNoCopy(PyObject* array, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("__array__", 2, 0, {"dtype", "copy"});
  PyObject* v[2];
  std::optional<bool> copy;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseOptionalBool(v[1], "copy", &copy)) {
    return false;
  }
  bool copies = copy.value_or(false);
  if (!copies && IsGiven(v[0])) {
    const nb::object own = nb::steal(PyObject_GetAttrString(array, "dtype"));
    const nb::object numpy = nb::steal(PyImport_ImportModule("numpy"));
    if (!own.is_valid() || !numpy.is_valid()) return false;
    const nb::object wanted = nb::steal(PyObject_CallMethod(numpy.ptr(), "dtype", "O", v[0]));
    const int is_own =
        wanted.is_valid() ? PyObject_RichCompareBool(wanted.ptr(), own.ptr(), Py_EQ) : -1;
    if (is_own < 0) return false;
    copies = is_own == 0;
  }
  if (copies) RaiseExchange(NoCopiesScope::Check());
  return !copies;
}

}  // namespace

PyObject* NumPyMethod(PyObject* self, PyObject*) {
  const Tensor& tensor = AsTensor(self);
  const TracedExport traced("numpy()", self, tensor);
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad();
  if (!ReadyHost(tensor)) return nullptr;
  if (LoadedNumPy() == nullptr) {
    nb::object numpy = nb::steal(PyImport_ImportModule("numpy"));
    if (!numpy.is_valid()) return nullptr;
  }
  PyObject* array = MakeNumPyArray(tensor.view(), self);
  return array != nullptr || PyErr_Occurred() ? array : BySlowPath(self);
}

PyObject* ArrayMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const TracedExport traced("__array__", self, AsTensor(self));
  nb::object array = nb::steal(NumPyMethod(self, nullptr));
  if (!array.is_valid() || (nargs == 0 && kwnames == nullptr)) return array.release().ptr();
  if (NoCopiesScope::IsOn() && !CheckTakesNoCopy(array.ptr(), args, nargs, kwnames)) return nullptr;
  nb::object convert = nb::steal(PyObject_GetAttrString(array.ptr(), "__array__"));
  return convert.is_valid() ? PyObject_Vectorcall(convert.ptr(), args, nargs, kwnames) : nullptr;
}

}  // namespace dovetail::python
