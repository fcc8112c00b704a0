// t == x and the other comparisons of a tensor.
//
//   t[1] == 1          # one element compares as its number
//   t == other         # TypeError for several elements: Dovetail has no elementwise comparison
//
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_COMPARE_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_COMPARE_H_

#include <Python.h>

namespace dovetail::python {

// tp_richcompare. A tensor of one element compares with numbers and other tensors of one element;
// Python's numbers are first rounded to a tensor's floating-point type, as NumPy and PyTorch do.
// For other objects the result is NotImplemented, so Python calls their own comparison. TypeError
// for numbers, sequences, tensors and arrays without one; objects of other kinds are unequal.
PyObject* TensorCompare(PyObject* self, PyObject* other, int op);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_COMPARE_H_
