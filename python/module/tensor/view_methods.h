// The methods of dovetail.Tensor that give views, and its mark for autograd.
//
// Functions for tp_methods; all need the GIL and return nullptr with an error set. Views share the
// memory, its access and the mark of the tensor that they are made from.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_VIEW_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_VIEW_METHODS_H_

#include <Python.h>

#include "absl/status/statusor.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// A view of the tensor of `self`, as a new object with its mark for autograd.
PyObject* ViewOf(PyObject* self, absl::StatusOr<Tensor> tensor);

PyObject* PermuteMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* TransposeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* ReshapeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* DetachMethod(PyObject* self, PyObject* unused);
PyObject* RequiresGradMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* DataPointerMethod(PyObject* self, PyObject* unused);
PyObject* IsContiguousMethod(PyObject* self, PyObject* unused);

// The .T attribute.
PyObject* ReverseDims(PyObject* self);

// Sets or clears the mark for autograd. Only floating-point and complex tensors may have it: false
// with a ValueError set otherwise.
bool MarkRequiresGrad(PyObject* self, bool value);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_VIEW_METHODS_H_
