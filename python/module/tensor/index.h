// Converts the key of t[key] to the IndexItems of core/index.h.
//
//   IndexItems items;
//   if (!ParseIndexKey(key, &items)) return nullptr;
//
// Keys of up to four items take no allocation.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_

#include <Python.h>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/internal/views/views.h"

namespace dovetail::python {

using IndexItems = absl::InlinedVector<IndexItem, 4>;

// Ints, slices, Ellipsis, None, or a tuple of them; TypeError otherwise, IndexError for more than
// one Ellipsis. Core checks whether the indices are in range. False with an error set;
// needs the GIL.
bool ParseIndexKey(PyObject* key, IndexItems* items);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_
