// Backends from other shared objects, and the allocators of devices: register_backend, allocators,
// set_allocator, allocator_stats, trim_memory.
//
//   dt.set_allocator("cuda:0", "caching(async)")
//   dt.allocator_stats("cuda:0")["allocated_bytes"]
//
// Functions of the module's method table: they need the GIL and return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_MEMORY_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_MEMORY_H_

#include <Python.h>

namespace dovetail::python {

// register_backend(capsule, /)
PyObject* RegisterBackendFunction(PyObject* module, PyObject* capsule);

// allocators(device, kind="device")
PyObject* AllocatorsFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);
// set_allocator(device, name, kind="device")
PyObject* SetAllocatorFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames);
// allocator_stats(device, kind="device")
PyObject* AllocatorStatsFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);
// trim_memory(device, keep=0, kind="device")
PyObject* TrimMemoryFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_MEMORY_H_
