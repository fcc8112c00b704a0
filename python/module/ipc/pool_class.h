// dovetail.ipc.Pool: many tensors in one shared memory (interop/ipc/pool.h).

#ifndef DOVETAIL_PYTHON_MODULE_IPC_POOL_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_IPC_POOL_CLASS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

// The class _Pool, from which dovetail.ipc.Pool derives, and _ipc_report_write_faults().
void AddPool(nanobind::module_& module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_IPC_POOL_CLASS_H_
