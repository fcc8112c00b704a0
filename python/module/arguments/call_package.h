// Calls into the package's own modules in Python.
//
//   return CallPackage("dovetail._pickle", "reduce_tensor", self, protocol);
//
// A module is imported when it is first needed. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_
#define DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_

#include <Python.h>

namespace dovetail::python {

// A new reference; nullptr with an error set. The arguments are objects.
template <typename... Args>
PyObject* CallPackage(const char* module, const char* function, Args... args) {
  PyObject* imported = PyImport_ImportModule(module);
  if (imported == nullptr) return nullptr;
  PyObject* callable = PyObject_GetAttrString(imported, function);
  Py_DECREF(imported);
  if (callable == nullptr) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(callable, args..., nullptr);
  Py_DECREF(callable);
  return result;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_ARGUMENTS_CALL_PACKAGE_H_
