// The functions of the module that import by one named protocol.
//
// Each returns a new dovetail.Tensor that shares the memory of `x`. They need the GIL and return
// nullptr with an error set: AttributeError for an object without the protocol, ExchangeError for
// memory that can't be shared, or what `x` raises.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROM_DLPACK_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROM_DLPACK_H_

#include <Python.h>

namespace dovetail::python {

// from_dlpack(x, /, *, device=None, copy=None): `x` has __dlpack__ and __dlpack_device__, or is a
// capsule of either kind.
PyObject* FromDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

// from_arrow(x, /), from_array_interface(x, /), from_cuda_array_interface(x, /),
// from_usm_array_interface(x, /)
PyObject* FromArrowFunction(PyObject* module, PyObject* x);
PyObject* FromArrayInterface(PyObject* module, PyObject* x);
PyObject* FromCudaArrayInterface(PyObject* module, PyObject* x);
PyObject* FromUsmArrayInterface(PyObject* module, PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROM_DLPACK_H_
