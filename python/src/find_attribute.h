// An attribute that an object may have: how the doors ask for a protocol.
//
//   nb::object method;
//   if (!FindAttribute(x, "__arrow_c_array__", &method)) return nullptr;
//   if (method.is_valid()) …
//
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_SRC_FIND_ATTRIBUTE_H_
#define DOVETAIL_PYTHON_SRC_FIND_ATTRIBUTE_H_

#include <Python.h>
#include <nanobind/nanobind.h>

namespace dovetail::python {

// x.name, or nothing where x says that it has none (AttributeError). False with an error set where
// looking for it raised anything else.
inline bool FindAttribute(PyObject* x, const char* name, nanobind::object* value) {
  *value = nanobind::steal(PyObject_GetAttrString(x, name));
  if (value->is_valid()) return true;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
  PyErr_Clear();
  return true;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_FIND_ATTRIBUTE_H_
