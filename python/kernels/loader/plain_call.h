// The Python function of a kernel: a builtin function, which compilers of PyTorch know how to
// replace. It borrows any library's tensors for the call, makes the results that are left out, and
// leaves PyTorch's tensors that are no plain memory to the kernel's operator.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_PLAIN_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_PLAIN_CALL_H_

#include <Python.h>

#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// A new builtin function of the module of that name. nullptr with an error set. Needs the GIL.
PyObject* NewKernelFunction(const LoadedKernel& loaded, PyObject* module_name);

// The kernel of such a function; nullptr with a TypeError set for another object.
const LoadedKernel* KernelOf(PyObject* function);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_PLAIN_CALL_H_
