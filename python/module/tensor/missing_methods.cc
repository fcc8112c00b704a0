#include "dovetail/python/module/tensor/slots.h"

#include <array>
#include <cstddef>

namespace dovetail::python {
namespace {

// Of tensors of NumPy or PyTorch, those methods that one would try first.
constexpr const char* kNames[] = {
    "abs",    "add",  "all",    "amax", "amin",    "any",  "argmax", "argmin", "argsort",
    "clamp",  "clip", "cumsum", "dot",  "exp",     "log",  "matmul", "max",    "mean",
    "median", "min",  "mul",    "norm", "nonzero", "prod", "round",  "sort",   "sqrt",
    "std",    "sub",  "sum",    "topk", "trace",   "var",
};
constexpr size_t kCount = sizeof kNames / sizeof kNames[0];

PyObject* Refuse(PyObject*, void* name) {
  PyErr_Format(PyExc_AttributeError,
               "dovetail.Tensor has no %s(): it computes nothing; t.numpy() or "
               "dovetail.convert(t, torch.Tensor) shares its memory with a library that does",
               static_cast<const char*>(name));
  return nullptr;
}

}  // namespace

bool AddMissingMethods(PyTypeObject* type) {
  static std::array<PyGetSetDef, kCount> definitions;
  for (size_t i = 0; i < kCount; ++i) {
    definitions[i] = {kNames[i], &Refuse, nullptr, "Not there: it raises AttributeError.",
                      const_cast<char*>(kNames[i])};
    PyObject* property = PyDescr_NewGetSet(type, &definitions[i]);
    if (property == nullptr) return false;
    const int failed = PyDict_SetItemString(type->tp_dict, kNames[i], property);
    Py_DECREF(property);
    if (failed != 0) return false;
  }
  PyType_Modified(type);
  return true;
}

PyObject* TensorDir(PyObject* self, PyObject*) {
  PyObject* names =
      PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self);
  for (size_t i = 0; names != nullptr && i < kCount; ++i) {
    PyObject* none = PyObject_CallMethod(names, "remove", "s", kNames[i]);
    if (none == nullptr) Py_CLEAR(names);
    Py_XDECREF(none);
  }
  return names;
}

}  // namespace dovetail::python
