// Whether a rule for casts lets a number be written to a tensor, as in copyto(t, 1.5).
//
//   if (!CheckNumberCast(number, tensor.dtype(), rules)) return false;
//
// As in NumPy, Python's int, float and complex have a kind and no size: an int fits every type but
// bool, a float floating-point and complex types. A bool, and a number with a dtype, such as
// NumPy's scalars, are cast as arrays of their type are. Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_CAST_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_CAST_H_

#include <Python.h>

#include <string_view>

#include "dovetail/core/dtype.h"
#include "dovetail/python/module/values/casting.h"

namespace dovetail::python {

struct AssignRules {
  Casting casting = Casting::kSameKind;
  // The exception for a cast that is not allowed.
  PyObject* refusal = PyExc_ValueError;
  // Whether `casting` holds for numbers as well: in copyto() it does, in t[key] = 1.5 it does not.
  bool covers_numbers = false;
};

// Sets `rules.refusal` and returns false. `what` is the type of the value.
bool RefuseCast(std::string_view what, DType to, const AssignRules& rules);

// False with `rules.refusal` set if the rules don't let the number be cast to `to`.
bool CheckNumberCast(PyObject* number, DType to, const AssignRules& rules);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NUMBER_CAST_H_
