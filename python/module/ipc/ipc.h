// The functions behind dovetail/ipc.py: tensors in memory that other processes open by a handle, a
// bytes object.

#ifndef DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
#define DOVETAIL_PYTHON_MODULE_IPC_IPC_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// The functions _ipc_…() of the module, for dovetail/ipc.py.
PyMethodDef* IpcFunctions();

// The tensor over the memory of an object that is no dovetail.Tensor, for share(). Returns false
// with an error set: TypeError for what is no tensor of any library.
bool ImportToShare(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
