// New tensors: tensor, to_tensor, empty, zeros, full, arange.
//
//   dt.tensor([[1, 2], [3, 4]])             dt.full((2, 3), 0.5)
//   dt.zeros(2, 3, dtype=dt.bfloat16)       dt.arange(0, 1, 0.25)
//
// Each owns new memory on the requested device. Without one that is the CPU, or the device of the
// tensor that it is made from. Functions of the module, METH_FASTCALL | METH_KEYWORDS: they need
// the GIL and return nullptr with an error set. ValueError for bad shapes and values, TypeError for
// bad arguments, OverflowError for numbers out of range (scalar.h), RuntimeError for a device
// without backend.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_FACTORY_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_FACTORY_H_

#include <Python.h>

namespace dovetail::python {

// tensor(data, *, dtype=None, device=None, requires_grad=False): always copies. Numbers and nested
// sequences (nested.h), or anything that can be exchanged, which keeps its type unless dtype is
// given; then each element is converted, floats into integers without their fractions.
PyObject* MakeTensor(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// to_tensor(data, dtype=None, place=None, stop_gradient=True): Paddle's name for the same.
PyObject* ToTensor(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// empty(*shape, dtype=float32, device=None) and zeros likewise; the shape may also be one sequence,
// or be named shape= or size=.
PyObject* Empty(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* Zeros(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// full(shape, fill_value, *, dtype=None, device=None); the type is that of tensor(fill_value).
PyObject* Full(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// arange([start,] stop[, step], *, dtype=None, device=None): ceil((stop - start) / step) numbers.
// int64 from ints, float32 if one is a float. ValueError for a step of 0 or in the wrong
// direction, and for fractions in an integer type. In arange.cc.
PyObject* Arange(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_FACTORY_H_
