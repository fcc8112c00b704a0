// Entries of CPython's method tables, each wrapped in Guard (error.h) and with the flags that its
// signature calls for.
//
//   PyMethodDef methods[] = {
//       NoArguments<&CopyMethod>("copy", "copy($self, /)\n--\n\nA writable copy."),
//       FastKeywords<&TensorDLPack>("__dlpack__", "..."),
//       kEndOfMethods,
//   };
//
// A docstring opens with the signature, in the form that CPython takes out as __text_signature__.

#ifndef DOVETAIL_PYTHON_MODULE_ARGUMENTS_METHOD_TABLE_H_
#define DOVETAIL_PYTHON_MODULE_ARGUMENTS_METHOD_TABLE_H_

#include <Python.h>

#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

// CPython keeps functions of several signatures as one type; the flags tell which it is.
template <auto kFunction, typename... Args>
PyMethodDef MethodEntry(const char* name, int flags, const char* doc) {
  PyObject* (*function)(Args...) = &Guard<kFunction, Args...>;
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), flags, doc};
}

template <auto kFunction>
PyMethodDef NoArguments(const char* name, const char* doc) {
  return MethodEntry<kFunction, PyObject*, PyObject*>(name, METH_NOARGS, doc);
}
template <auto kFunction>
PyMethodDef OneArgument(const char* name, const char* doc) {
  return MethodEntry<kFunction, PyObject*, PyObject*>(name, METH_O, doc);
}
template <auto kFunction>
PyMethodDef Fast(const char* name, const char* doc) {
  return MethodEntry<kFunction, PyObject*, PyObject* const*, Py_ssize_t>(name, METH_FASTCALL, doc);
}
template <auto kFunction>
PyMethodDef FastKeywords(const char* name, const char* doc) {
  return MethodEntry<kFunction, PyObject*, PyObject* const*, Py_ssize_t, PyObject*>(
      name, METH_FASTCALL | METH_KEYWORDS, doc);
}
inline constexpr PyMethodDef kEndOfMethods = {nullptr, nullptr, 0, nullptr};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_ARGUMENTS_METHOD_TABLE_H_
