// The fast door in for exact NumPy arrays: their fields are read where they stand.
//
//   if (ImportNumPyArray(x, &tensor)) ...
//
// It answers as numpy.ndarray.__dlpack__ does: the same type, layout and access, the array kept
// alive. What that would refuse (structured types, another byte order, strides between elements) is
// left to it.

#ifndef DOVETAIL_PYTHON_SRC_NUMPY_IN_H_
#define DOVETAIL_PYTHON_SRC_NUMPY_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// False, and no error set, when `x` is no exact ndarray or one that __dlpack__ has to answer for.
bool ImportNumPyArray(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_NUMPY_IN_H_
