// Numbers, and nested sequences of them, as a new tensor on the CPU.
//
//   Tensor t;
//   if (!TensorFromNested(list, /*dtype=*/nullptr, &t)) return nullptr;   // [[1, 2], [3, 4]]
//
// The type is inferred as torch does: Python's bool, int, float and complex are bool, int64,
// float32 and complex64. NumPy's scalars, and arrays and tensors in the lists, keep their type. All
// are promoted to their common type (casting.h). Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_

#include <Python.h>

#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/module/values/numbers.h"

namespace dovetail::python {

// False with an error set: ValueError with the position for sequences of uneven lengths or depths,
// the errors of scalar.h for numbers that do not fit, `rules.refusal` for those that the rules
// don't let be cast to `dtype`, TypeError for other objects.
bool TensorFromNested(PyObject* data, const DType* dtype, Tensor* result,
                      const AssignRules& rules = {});

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_
