// Writes a Python value through a view: t[key] = value.
//
//   if (!Assign(tensor, view, value)) return -1;
//
// The value is a number, nested lists of numbers, or anything that can be exchanged and has the
// tensor's type; it is broadcast to the view's shape. Where elements share bytes the view may start
// inside one. Needs the GIL; the tensor must be writable.

#ifndef DOVETAIL_PYTHON_SRC_ASSIGN_H_
#define DOVETAIL_PYTHON_SRC_ASSIGN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/core/views.h"

namespace dovetail::python {

// `view` is a view of tensor's layout. False with an error set: ValueError for another type or a
// shape that does not broadcast, what scalar.h says of numbers, TypeError for anything else.
bool Assign(const Tensor& tensor, const LayoutView& view, PyObject* value);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ASSIGN_H_
