#include "dovetail/python/exchange/torch/torch_object.h"

#include "dovetail/python/exchange/support/error.h"

namespace nb = nanobind;

namespace dovetail::python {

nb::object EvaluateTorch(const char* expression, PyObject* argument) {
  const nb::object torch = nb::steal(PyImport_ImportModule("torch"));
  const nb::object names = nb::steal(PyDict_New());
  nb::object value;
  if (torch.is_valid() && names.is_valid() &&
      PyDict_SetItemString(names.ptr(), "torch", torch.ptr()) == 0 &&
      (argument == nullptr || PyDict_SetItemString(names.ptr(), "x", argument) == 0)) {
    value = nb::steal(PyRun_String(expression, Py_eval_input, names.ptr(), names.ptr()));
  }
  if (!value.is_valid()) ForgetException();
  return value;
}

int64_t EvaluateTorchInt(const char* expression, PyObject* argument) {
  const nb::object value = EvaluateTorch(expression, argument);
  const int64_t number = value.is_valid() ? PyLong_AsLongLong(value.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) ForgetException();
  return number;
}

bool HasTorchImpl(PyObject* x) {
  if (Py_TYPE(x)->tp_basicsize < static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(void*))) {
    return false;
  }
  PyObject* value = PyObject_GetAttrString(x, "_cdata");
  const void* impl = value != nullptr ? PyLong_AsVoidPtr(value) : nullptr;
  if (PyErr_Occurred() != nullptr) ForgetException();
  Py_XDECREF(value);
  return impl != nullptr && impl == TorchImplOf(x);
}

}  // namespace dovetail::python
