#include "dovetail/python/src/torch_gradient.h"

#include "dovetail/python/src/torch_symbol.h"

namespace dovetail::python {
namespace {

// bool c10::TensorImpl::requires_grad() const, which PyTorch 2.13 exports.
using RequiresGrad = bool (*)(const void* impl);

// Where objects of PyTorch 2.13 have their TensorImpl: after what all objects have.
const void* ImplOf(PyObject* x) { return *reinterpret_cast<const void* const*>(x + 1); }

// PyTorch's own word on where the TensorImpl is; nullptr where it says nothing.
const void* ImplByAttribute(PyObject* x) {
  PyObject* value = PyObject_GetAttrString(x, "_cdata");
  const void* impl = value != nullptr ? PyLong_AsVoidPtr(value) : nullptr;
  PyErr_Clear();
  Py_XDECREF(value);
  return impl;
}

// The function, if this PyTorch's objects are laid out as ImplOf thinks.
RequiresGrad FindRequiresGrad(PyObject* x) {
  if (Py_TYPE(x)->tp_basicsize < static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(void*)) ||
      ImplByAttribute(x) != ImplOf(x)) {
    return nullptr;
  }
  return reinterpret_cast<RequiresGrad>(
      FindTorchSymbol(kC10, "_ZNK3c1010TensorImpl13requires_gradEv"));
}

bool RequiresGradByAttribute(PyObject* x) {
  static PyObject* const name = PyUnicode_InternFromString("requires_grad");
  PyObject* value = PyObject_GetAttr(x, name);
  if (value == nullptr) PyErr_Clear();
  const bool required = value != Py_False;
  Py_XDECREF(value);
  return required;
}

}  // namespace

bool TorchRequiresGrad(PyObject* x) {
  static const RequiresGrad requires_grad = FindRequiresGrad(x);
  return requires_grad != nullptr ? requires_grad(ImplOf(x)) : RequiresGradByAttribute(x);
}

}  // namespace dovetail::python
