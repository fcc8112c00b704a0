#include "dovetail/python/exchange/base/integers.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {

bool ParseInt(PyObject* value, int64_t* result) {
  if (PyLong_CheckExact(value)) {
    *result = PyLong_AsLongLong(value);
    return *result != -1 || !PyErr_Occurred();
  }
  nb::object index = nb::steal(HangAtThreadEnd([&] { return PyNumber_Index(value); }));
  if (!index.is_valid()) return false;
  *result = PyLong_AsLongLong(index.ptr());
  return *result != -1 || !PyErr_Occurred();
}

namespace {

bool ParseInts(PyObject* const* items, Py_ssize_t count, Dims* dims) {
  dims->clear();
  for (Py_ssize_t i = 0; i < count; ++i) {
    int64_t dim;
    if (!ParseInt(items[i], &dim)) return false;
    dims->push_back(dim);
  }
  return true;
}

}  // namespace

bool ParseShape(PyObject* value, Dims* shape) {
  if (PyIndex_Check(value)) {
    if (ParseInts(&value, 1, shape)) return true;
    // An array has __index__, too, which refuses if there are several integers.
    if (PyLong_Check(value) || !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();
  }
  nb::object items = nb::steal(PySequence_Fast(value, "a shape is an int or a sequence of ints"));
  if (!items.is_valid()) return false;
  // Copied into a tuple: the __index__ of an item may change the list.
  items = nb::steal(PySequence_Tuple(items.ptr()));
  if (!items.is_valid()) return false;
  return ParseInts(PySequence_Fast_ITEMS(items.ptr()), PyTuple_GET_SIZE(items.ptr()), shape);
}

bool ParseDims(PyObject* const* args, Py_ssize_t nargs, Dims* dims) {
  if (nargs == 1) return ParseShape(args[0], dims);
  return ParseInts(args, nargs, dims);
}

PyObject* ShapeToPython(absl::Span<const int64_t> values) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  if (tuple == nullptr) return nullptr;
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* item = PyLong_FromLongLong(values[i]);
    if (item == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item);
  }
  return tuple;
}

}  // namespace dovetail::python
