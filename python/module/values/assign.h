// Writes a Python value through a view: t[key] = value.
//
//   if (!CheckWritable(tensor) || !Assign(tensor, view, value)) return -1;
//
// The value is a number, nested lists of numbers, or anything that can be exchanged; it is
// broadcast to the view's shape, and tensors and arrays with dimensions are cast (core/copy.h)
// where the rule for casts allows it. Where elements share bytes the view may start inside one.
// Needs the GIL, which large copies let go.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_

#include <Python.h>

#include "dovetail/core/internal/views/views.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/casting.h"

namespace dovetail::python {

struct AssignRules {
  Casting casting = Casting::kSameKind;
  // The exception for a cast that is not allowed.
  PyObject* refusal = PyExc_ValueError;
};

// ValueError for a tensor that is read-only.
bool CheckWritable(const Tensor& tensor);

// `view` is a view of tensor's layout. False with an error set: the rules' for another type,
// ValueError for a shape that does not broadcast or a cast that does not exist, what scalar.h says
// of numbers, TypeError for anything else.
bool Assign(const Tensor& tensor, const LayoutView& view, PyObject* value,
            const AssignRules& rules = {});

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_ASSIGN_H_
