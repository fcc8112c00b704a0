// NumPy's array interface, in: objects that have __array_interface__ and nothing better.
//
//   Tensor t;
//   if (!ImportByArrayInterface(x, &t)) return nullptr;
//
// No copy: the object is kept alive until the memory is no longer used, and with it the buffer
// where its memory is one. Source: numpy.org/doc/stable/reference/arrays.interface.html. Everything
// needs the GIL.

#ifndef DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_IN_H_
#define DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

bool HasArrayInterface(PyObject* x);

// False with an error set: AttributeError for an object without the attribute, ExchangeError for
// what can't be shared (interop/array_interface/describe.h).
bool ImportByArrayInterface(PyObject* x, Tensor* tensor);

// from_array_interface(x, /)
PyObject* FromArrayInterface(PyObject* module, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_IN_H_
