// The functions behind dovetail/ipc.py: tensors in memory that other processes open by a handle, a
// bytes object.

#ifndef DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
#define DOVETAIL_PYTHON_MODULE_IPC_IPC_H_

#include <Python.h>

namespace dovetail::python {

// The functions _ipc_…() of the module, for dovetail/ipc.py.
PyMethodDef* IpcFunctions();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_IPC_IPC_H_
