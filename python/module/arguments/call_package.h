// Calls into the package's own modules in Python.
//
//   return CallPackage("dovetail._pickle", "reduce_tensor", self, protocol);
//
// A module is imported when it is first needed. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_
#define DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_

#include <Python.h>

namespace dovetail::python {

// A function of the package: a new reference; nullptr with an error set.
inline PyObject* FindInPackage(const char* module, const char* function) {
  PyObject* imported = PyImport_ImportModule(module);
  if (imported == nullptr) return nullptr;
  PyObject* callable = PyObject_GetAttrString(imported, function);
  Py_DECREF(imported);
  return callable;
}

// Its result for arguments that are objects, likewise.
template <typename... Args>
PyObject* CallPackage(const char* module, const char* function, Args... args) {
  PyObject* callable = FindInPackage(module, function);
  if (callable == nullptr) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(callable, args..., nullptr);
  Py_DECREF(callable);
  return result;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_
