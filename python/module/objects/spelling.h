// Equality of a type or device with its other spellings: names, and objects of other libraries.
//
//   dt.int64 == "int64" == torch.int64
//
// hash() is that of the canonical name, so a dict keyed by names finds types and devices. Objects
// of other libraries have other hashes, as numpy.dtype and its spellings do. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_SPELLING_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_SPELLING_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/strings/match.h"

namespace dovetail::python {

// Whether the name of the class of `x` contains one of `words`.
inline bool IsClassNamed(PyObject* x, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (absl::StrContains(Py_TYPE(x)->tp_name, word)) return true;
  }
  return false;
}

// True if `parse` reads `other` as `own`, else NotImplemented, so Python tries the other operand.
template <typename T>
nanobind::object EqualsSpelling(T own, PyObject* other, bool (*parse)(PyObject*, T*)) {
  T parsed;
  if (parse(other, &parsed)) {
    if (parsed == own) return nanobind::bool_(true);
  } else if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
             PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
  } else {
    throw nanobind::python_error();
  }
  return nanobind::borrow(Py_NotImplemented);
}

inline Py_hash_t HashOfText(const std::string& text) {
  return nanobind::hash(nanobind::str(text.c_str()));
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_SPELLING_H_
