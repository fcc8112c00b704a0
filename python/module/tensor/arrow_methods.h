// t.__arrow_c_array__() and t.__arrow_c_device_array__(), by which pyarrow.array(t) shares memory.
//
// Methods of the type. They need the GIL and return nullptr with an error set: what arrow_out.h
// raises, and ExchangeError for a tensor that requires gradients.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_ARROW_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_ARROW_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// __arrow_c_array__(requested_schema=None)
PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// __arrow_c_device_array__(requested_schema=None, **kwargs). NotImplementedError for keywords that
// are not None, as the protocol asks.
PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_ARROW_METHODS_H_
