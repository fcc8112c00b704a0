// Operators that dovetail.Tensor does not have: a TypeError that says who has them.
//
// An operand of another library decides itself: tensor + ndarray is what NumPy makes of it.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_ARITHMETIC_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_ARITHMETIC_H_

#include <Python.h>

namespace dovetail::python {

// Fills the slots of arithmetic operators. The others stay as they are.
void RefuseArithmetic(PyNumberMethods* as_number);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_ARITHMETIC_H_
