// The methods of dovetail.Tensor that change its shape, under NumPy's and PyTorch's names.
//
// Functions for tp_methods; all need the GIL and return nullptr with an error set. Views share the
// memory, its access and the mark for autograd. Dimensions may be negative, counting from the end:
// IndexError if there is no such one.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_SHAPE_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_SHAPE_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// squeeze(dim=None), axis= too: without those dimensions, which must have one element; by default
// without all that do.
PyObject* SqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* UnsqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);
// flatten(start_dim=0, end_dim=-1): a view where strides can say it, else a copy.
PyObject* FlattenMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* RavelMethod(PyObject* self, PyObject* unused);
PyObject* SwapAxesMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* MoveAxisMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);
// The .mT attribute: ValueError below two dimensions.
PyObject* MatrixTransposed(PyObject* self);
// expand(*sizes), -1 keeps a size; broadcast_to(shape). Read-only if elements repeat.
PyObject* ExpandMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* BroadcastToMethod(PyObject* self, PyObject* shape);
// view(*shape), never a copy; view(dtype), the same bytes as another type.
PyObject* ViewMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_SHAPE_METHODS_H_
