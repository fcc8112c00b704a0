// t.__dlpack__(), t.__dlpack_device__() and to_dlpack(t).
//
// Methods of the type and functions of the module. They need the GIL and return nullptr with an
// error set: what dlpack_out.h raises, and ExchangeError for a tensor that requires gradients.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_DLPACK_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_DLPACK_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* TensorDLPack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// __dlpack_device__()
PyObject* TensorDLPackDevice(PyObject* self, PyObject* unused);

// to_dlpack(tensor, *, max_version=None, stream=None, copy=None)
PyObject* ToDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// _to_immutable_consumer(tensor): a legacy capsule for a library that never writes. The memory may
// be read-only, though the capsule can't say so.
PyObject* ToImmutableConsumer(PyObject* module, PyObject* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_DLPACK_METHODS_H_
