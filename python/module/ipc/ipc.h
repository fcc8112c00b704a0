// The functions behind dovetail/ipc.py: tensors in memory that other processes open by a handle, a
// bytes object.

#ifndef DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
#define DOVETAIL_PYTHON_MODULE_IPC_IPC_H_

#include <Python.h>

namespace dovetail::python {

// All need the GIL, and return a new reference or nullptr with an error set.

PyObject* IpcShareFunction(PyObject* module, PyObject* tensor);     // -> bytes
PyObject* IpcOpenFunction(PyObject* module, PyObject* handle);      // bytes -> Tensor
PyObject* IpcCopyFunction(PyObject* module, PyObject* tensor);      // -> Tensor
PyObject* IpcDescribeFunction(PyObject* module, PyObject* handle);  // bytes -> (text, fields…)
PyObject* IpcEmptyFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
PyObject* IpcForgetFunction(PyObject* module, PyObject*);
PyObject* IpcUnlinkLeftBehindFunction(PyObject* module, PyObject*);  // -> int

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
