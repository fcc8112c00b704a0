// Numbers, and nested sequences of them, as a new tensor on the CPU.
//
//   Tensor t;
//   if (!TensorFromNested(list, /*dtype=*/nullptr, &t)) return nullptr;   // [[1, 2], [3, 4]]
//
// The type is inferred as torch does: Python's bool, int, float and complex are bool, int64,
// float32 and complex64; NumPy's scalars, and arrays and tensors in the lists, have their own; all
// are promoted to their common type (promote.h). Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_

#include <Python.h>

#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// False with an error set: ValueError that names the place for sequences of uneven lengths or
// depths, what scalar.h says of numbers that do not fit, TypeError for what is neither.
bool TensorFromNested(PyObject* data, const DType* dtype, Tensor* result);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_NESTED_H_
