// NumPy arrays over tensors: `t.numpy()`.

#ifndef DOVETAIL_PYTHON_SRC_NUMPY_OUT_H_
#define DOVETAIL_PYTHON_SRC_NUMPY_OUT_H_

#include <Python.h>

#include "dovetail/core/tensor_view.h"

namespace dovetail::python {

// An array that shares the memory of `view`, read-only where it is, and keeps `owner` alive. The
// memory must be the host's. nullptr and no error set when NumPy's C interface can't be used or has
// no such type; nullptr with an error set otherwise.
PyObject* MakeNumPyArray(const TensorView& view, PyObject* owner);

// Tensor.numpy(). Imports NumPy. ExchangeError for memory that the host can't reach and tensors
// that require gradients, TypeError for types that neither NumPy nor ml_dtypes has.
PyObject* NumPyMethod(PyObject* self, PyObject* unused);

// Tensor.__array__(dtype=None, copy=None), which NumPy calls for what has no buffer: numpy(), and
// the arguments as its own arrays take them. Without it NumPy would make an array of objects.
PyObject* ArrayMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_NUMPY_OUT_H_
