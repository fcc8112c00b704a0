#include "dovetail/python/exchange/peers/torch/torch_gradient.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/interned_name.h"

namespace dovetail::python {
namespace {

constinit InternedName name("requires_grad");

// The getter of the class's attribute, which is called as the interpreter calls it; nullptr if the
// attribute is no C getter.
const PyGetSetDef* FindGetter(PyTypeObject* type) {
  PyObject* descriptor = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name.get());
  if (descriptor == nullptr) {
    ForgetException();
    return nullptr;
  }
  const PyGetSetDef* getter = nullptr;
  if (Py_IS_TYPE(descriptor, &PyGetSetDescr_Type) &&
      PyType_IsSubtype(type, PyDescr_TYPE(descriptor))) {
    getter = reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset;
  }
  Py_DECREF(descriptor);
  return getter;
}

}  // namespace

bool TorchRequiresGrad(PyObject* x) {
  static constinit GilGuarded<const PyGetSetDef*> known(nullptr);
  const PyGetSetDef* getter = known.load();
  if (getter == nullptr) [[unlikely]] {
    getter = FindGetter(Py_TYPE(x));
    if (PyErr_Occurred() != nullptr) return true;
    known.store(getter);
  }
  PyObject* const value =
      getter != nullptr ? getter->get(x, getter->closure) : PyObject_GetAttr(x, name.get());
  if (value == nullptr) ForgetException();
  const bool required = value != Py_False;
  Py_XDECREF(value);
  return required;
}

}  // namespace dovetail::python
