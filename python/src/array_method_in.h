// NumPy's __array__, in: tables, labelled arrays and variables, which have no door that shares.
//
//   Tensor t;
//   if (HasArrayMethod(x) && !ImportByArrayMethod(x, &t)) return nullptr;     // a pandas.DataFrame
//
// x.__array__() returns an array of NumPy, over x's own memory or new: the tensor shares it with
// its access, and keeps it alive. Source: numpy.org/doc/stable/user/basics.interoperability.html.
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_SRC_ARRAY_METHOD_IN_H_
#define DOVETAIL_PYTHON_SRC_ARRAY_METHOD_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Whether the class of `x` has the method. Runs no Python code.
bool HasArrayMethod(PyObject* x);

// False with an error set: what the method raises, TypeError for a result that is no array,
// ExchangeError or BufferError for an array that can't be shared.
bool ImportByArrayMethod(PyObject* x, Tensor* tensor);

// Whether `tensor`, which ImportByArrayMethod made, shares the memory of `x`: asks the method once
// more, since only an array over x's memory is at the same address twice. False with an error set
// if that call fails.
bool FindWhetherShared(PyObject* x, const Tensor& tensor, bool* shared);

// False with an ExchangeError set for a numpy.ma array with masked elements: no door tells the
// mask.
bool CheckUnmasked(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARRAY_METHOD_IN_H_
