#include "dovetail/python/src/torch_object.h"

namespace dovetail::python {

bool HasTorchImpl(PyObject* x) {
  if (Py_TYPE(x)->tp_basicsize < static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(void*))) {
    return false;
  }
  PyObject* value = PyObject_GetAttrString(x, "_cdata");
  const void* impl = value != nullptr ? PyLong_AsVoidPtr(value) : nullptr;
  PyErr_Clear();
  Py_XDECREF(value);
  return impl != nullptr && impl == TorchImplOf(x);
}

}  // namespace dovetail::python
