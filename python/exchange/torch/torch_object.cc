#include "dovetail/python/exchange/torch/torch_object.h"

#include "dovetail/python/exchange/support/error.h"

namespace dovetail::python {

void RestoreInterrupt(nanobind::python_error& e) {
  e.restore();
  ForgetException();
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
