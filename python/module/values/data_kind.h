// Classifies Python data: a number, a sequence to descend into, or an array that is exchanged as a
// whole.
//
//   DataKind kind;
//   nb::object array;
//   if (!Classify(x, &kind, &array)) return nullptr;
//   if (kind == DataKind::kArray) … AsTensor(array.ptr()) …
//
// Each protocol of the object is looked up once, since an attribute may be a computed property.
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_DATA_KIND_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_DATA_KIND_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <string>

namespace dovetail::python {

enum class DataKind {
  kNumber,    // a Python number, or something with __index__, __float__ or __complex__
  kSequence,  // a list, a tuple, a range, …, but no text and no mapping
  kArray,     // any library's tensor or table, or an object that shows its memory
  kOther,
};

// For kArray, `array` becomes a dovetail.Tensor over its memory, `x` itself if it is one. False
// with an error set if a protocol of `x` raised one.
bool Classify(PyObject* x, DataKind* kind, nanobind::object* array);

// Whether `x` is a number, without an import of arrays. False with an error set as above.
bool FindNumber(PyObject* x, bool* is_number);

// Raises a TypeError for kOther: "`what` is a …". Returns false.
bool RaiseNoData(const std::string& what, PyObject* data);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_DATA_KIND_H_
