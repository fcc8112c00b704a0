// The functions of dovetail._core that load_kernels() is made of (dovetail/_kernels).

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_FUNCTIONS_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_FUNCTIONS_H_

#include <Python.h>

namespace dovetail::python {

// _load_kernels(path, module_name): the builtin functions of a kernel library. ImportError for a
// file that is none.
PyObject* LoadKernelsFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _describe_kernel(function): its parameters (describe_kernel.h), and whether it returns tensors
// beside those that it writes.
PyObject* DescribeKernelFunction(PyObject* module, PyObject* function);

// _register_torch_kernel(function, namespace, schemas, is_hip): RuntimeError where PyTorch takes no
// operator.
PyObject* RegisterTorchKernelFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _set_torch_kernel(function, call): what is called for PyTorch's tensors that are no plain memory.
PyObject* SetTorchKernelFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _trace_kernel(function, values): TraceCall() of traced_call.h.
PyObject* TraceKernelFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _xla_handlers(function): by the name of the platform a capsule for jax.ffi.register_ffi_target().
PyObject* XlaHandlersFunction(PyObject* module, PyObject* function);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_FUNCTIONS_H_
