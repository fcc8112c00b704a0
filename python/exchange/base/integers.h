// Integers, shapes and strides between Python and C++.
//
//   Dims shape;
//   if (!ParseShape(object, &shape)) return nullptr;
//   return ShapeToPython(tensor.strides());
//
// All functions need the GIL. On failure they return false (nullptr) with an error set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_INTEGERS_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_INTEGERS_H_

#include <Python.h>

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dovetail/core/layout.h"

namespace dovetail::python {

using Dims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

// An int or an object with __index__. TypeError for anything else, OverflowError beyond 64 bits.
bool ParseInt(PyObject* value, int64_t* result);

// An integer or a sequence of them, such as a tuple, a range or a one-dimensional array.
bool ParseShape(PyObject* value, Dims* shape);

// The arguments of t.reshape(2, 3), which may also be t.reshape((2, 3)).
bool ParseDims(PyObject* const* args, Py_ssize_t nargs, Dims* dims);

// A new tuple of ints.
PyObject* ShapeToPython(absl::Span<const int64_t> values);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_INTEGERS_H_
