#include "dovetail/python/exchange/torch/torch_private.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/torch/torch_assumption.h"
#include "dovetail/python/exchange/torch/torch_marks.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Whether the word after the PyObject is PyTorch's `_cdata`. Only an interrupt leaves its error
// set.
bool HasHandle(PyObject* x) {
  if (Py_TYPE(x)->tp_basicsize < static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(void*))) {
    return false;
  }
  PyObject* value = PyObject_GetAttrString(x, "_cdata");
  void* const told = value != nullptr ? PyLong_AsVoidPtr(value) : nullptr;
  if (PyErr_Occurred() != nullptr) ForgetException();
  Py_XDECREF(value);
  return told != nullptr && std::memcmp(x + 1, static_cast<const void*>(&told), sizeof(told)) == 0;
}

bool HandlesAreAsAssumed() {
  const nb::object first = EvaluateTorch("torch.zeros(1, device='cpu')");
  const nb::object second = EvaluateTorch("torch.zeros(2, device='cpu')[1:]");
  return first.is_valid() && second.is_valid() && HasHandle(first.ptr()) && HasHandle(second.ptr());
}

}  // namespace

bool TorchHandlesAreKnown() {
  static constinit TorchAssumption assumption(&HandlesAreAsAssumed);
  return assumption.Holds();
}

PyObject* CheckTorchAssumptions() {
  const nb::object result = nb::steal(PyDict_New());
  if (!EvaluateTorch("torch").is_valid() || !result.is_valid()) return nullptr;
  const auto note = [&](const char* assumption, bool holds) {
    return PyErr_Occurred() == nullptr &&
           PyDict_SetItemString(result.ptr(), assumption, holds ? Py_True : Py_False) == 0;
  };
  const bool done =
      note("libtorch_cpu.so exports the stable C functions of torch_functions.h",
           FindTorchFunctions().is_complete) &&
      note("a torch.Tensor has its handle after the PyObject", TorchHandlesAreKnown()) &&
      note("a TensorImpl has its dispatch keys at kDispatchKeys", TorchKeysAreKnown()) &&
      note("libc10.so exports TorchDispatchModeTLS::any_modes_set",
           FindTorchSymbol("libc10.so", kAnyModesSet) != nullptr) &&
      note("libtorch_cpu.so exports torch_function_mode_enabled",
           FindTorchSymbol("libtorch_cpu.so", kFunctionModeEnabled) != nullptr);
  return done && PyErr_Occurred() == nullptr ? Py_NewRef(result.ptr()) : nullptr;
}

}  // namespace dovetail::python
