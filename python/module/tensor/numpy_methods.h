// t.numpy() and t.__array__(). Methods of the type: they need the GIL and return nullptr with an
// error set.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_NUMPY_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_NUMPY_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// Tensor.numpy(). Imports NumPy. ExchangeError for memory that the host can't reach and tensors
// that require gradients, TypeError for types that neither NumPy nor ml_dtypes has.
PyObject* NumPyMethod(PyObject* self, PyObject* unused);

// Tensor.__array__(dtype=None, copy=None), which NumPy calls for what has no buffer: numpy(), and
// the arguments as its own arrays take them. Without it NumPy would make an array of objects.
PyObject* ArrayMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_NUMPY_METHODS_H_
