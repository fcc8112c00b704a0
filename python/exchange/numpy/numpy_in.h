// The fast door in for exact NumPy arrays: their fields are read where they stand.
//
//   if (numpy_ndarray.Is(Py_TYPE(x)) && ImportNumPyArray(x, &tensor)) ...
//
// It answers as numpy.ndarray.__dlpack__ does: the same type, layout and access, the array kept
// alive. What that would refuse (structured types, another byte order, strides between elements) is
// left to it.

#ifndef DOVETAIL_PYTHON_EXCHANGE_NUMPY_NUMPY_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_NUMPY_NUMPY_IN_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// `x` is an exact ndarray. False, and no error set, for one that __dlpack__ has to answer for.
bool ImportNumPyArray(PyObject* x, Tensor* tensor);

// The same as a view, with `strides` as the room for its strides: kMaxRank of Layout. Valid while
// the array is; that its extent fits an address space is not looked at.
bool ViewNumPyArray(PyObject* x, int64_t* strides, TensorView* view);

// The bytes of an exact ndarray, for a reader who gives them a type of his own.
struct NumPyBytes {
  void* data;
  int64_t nbytes;
  Access access;
};
// False, and no error set, where the buffer protocol has to answer: gaps between the elements, a
// type that has no DType, an array that warns when it is written.
bool GetNumPyBytes(PyObject* x, NumPyBytes* bytes);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_NUMPY_NUMPY_IN_H_
