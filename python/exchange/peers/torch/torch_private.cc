#include "dovetail/python/exchange/peers/torch/torch_private.h"

#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"

namespace nb = nanobind;

namespace dovetail::python {

nb::object EvaluateTorch(const char* expression) {
  const std::string code = absl::StrCat("torch.inference_mode(False)(lambda: ", expression, ")()");
  const nb::object torch = nb::steal(PyImport_ImportModule("torch"));
  const nb::object names = nb::steal(PyDict_New());
  nb::object value;
  if (torch.is_valid() && names.is_valid() &&
      PyDict_SetItemString(names.ptr(), "torch", torch.ptr()) == 0) {
    value = nb::steal(PyRun_String(code.c_str(), Py_eval_input, names.ptr(), names.ptr()));
  }
  if (!value.is_valid()) ForgetException();
  return value;
}

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

}  // namespace dovetail::python
