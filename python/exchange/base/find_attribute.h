// Looks up an attribute that an object may have, such as that of a protocol.
//
//   nb::object method;
//   if (!FindAttribute(x, "__arrow_c_array__", &method)) return nullptr;
//   if (method.is_valid()) …
//
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ATTRIBUTE_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ATTRIBUTE_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/thread_end.h"

namespace dovetail::python {

// `*value` becomes x.name, or invalid if the lookup raised AttributeError. False with an error set
// if the lookup raised anything else.
inline bool FindAttribute(PyObject* x, PyObject* name, nanobind::object* value) {
  PyObject* found;
  const int result = HangAtThreadEnd([&] {
#if PY_VERSION_HEX >= 0x030d0000
    return PyObject_GetOptionalAttr(x, name, &found);
#else
    return _PyObject_LookupAttr(x, name, &found);
#endif
  });
  *value = nanobind::steal(found);
  return result >= 0;
}
inline bool FindAttribute(PyObject* x, const char* name, nanobind::object* value) {
  const nanobind::object key = nanobind::steal(PyUnicode_InternFromString(name));
  *value = nanobind::object();
  return key.is_valid() && FindAttribute(x, key.ptr(), value);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_FIND_ATTRIBUTE_H_
