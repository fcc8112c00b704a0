// Writes a Python value through a view: t[key] = value.
//
//   if (!CheckWritable(tensor) || !Assign(tensor, view, value)) return -1;
//
// The value is a number, nested lists of numbers, or anything that can be exchanged; it is
// broadcast to the view's shape. Tensors and arrays with dimensions are cast (core/copy.h) if the
// rule for casts allows it. If elements share bytes, the view may start inside a byte. Needs the
// GIL, which large copies release.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/internal/views/views.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/numbers.h"

namespace dovetail::python {

// ValueError for a tensor that is read-only.
bool CheckWritable(const Tensor& tensor);

// `view` is a view of the tensor's layout. False with an error set: `rules.refusal` for a cast that
// is not allowed, ValueError for a shape that does not broadcast or a cast that does not exist, the
// errors of scalar.h for numbers, TypeError for other objects.
bool Assign(const Tensor& tensor, const LayoutView& view, PyObject* value,
            const AssignRules& rules = {});

// Writes to all elements of a writable tensor, as copyto() does. ValueError for one that is
// read-only; otherwise the errors of Assign.
bool AssignWhole(const Tensor& tensor, PyObject* value, const AssignRules& rules);

// How often this thread has called Assign or AssignWhole, for whoever remembers what elements were.
uint64_t WriteCount();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_
