// DLPack out: `t.__dlpack__()`, `t.__dlpack_device__()` and `to_dlpack(t)`.
//
// Sources: the array API standard's array.__dlpack__ and DLPack's Python specification. All three
// are slots of method tables and need the GIL; they return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_SRC_DLPACK_OUT_H_
#define DOVETAIL_PYTHON_SRC_DLPACK_OUT_H_

#include <Python.h>

namespace dovetail::python {

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* TensorDLPack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// __dlpack_device__()
PyObject* TensorDLPackDevice(PyObject* self, PyObject* unused);

// to_dlpack(tensor, *, max_version=None, stream=None, copy=None)
PyObject* ToDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// _to_immutable_consumer(tensor): a legacy capsule for a library that never writes, which may have
// read-only memory though the capsule can't say so.
PyObject* ToImmutableConsumer(PyObject* module, PyObject* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_DLPACK_OUT_H_
