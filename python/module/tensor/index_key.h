// The key of t[key] as core's index items.
//
//   IndexItems items;
//   if (!ParseIndexKey(key, &items)) return nullptr;
//
// Up to four items, and so nearly every key, take no allocation.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_KEY_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_KEY_H_

#include <Python.h>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/internal/views/views.h"

namespace dovetail::python {

using IndexItems = absl::InlinedVector<IndexItem, 4>;

// Ints, slices, Ellipsis, None, or a tuple of them; TypeError otherwise, IndexError for more than
// one Ellipsis. Whether the indices are in range is core's to find out. False with an error set;
// needs the GIL.
bool ParseIndexKey(PyObject* key, IndexItems* items);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_KEY_H_
