// A call of a kernel that JAX traces: what its results will be.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_TRACED_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_TRACED_CALL_H_

#include <Python.h>

#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// `values` is a tuple of the call's arguments: for each tensor a pair of its type's name and its
// shape, None for what is left out, NotImplemented for a number that is traced, and other arguments
// as they are. Returns a list of such pairs, of all that the kernel writes. nullptr with the error
// that a plain call sets for such arguments. Needs the GIL.
PyObject* TraceCall(const LoadedKernel& loaded, PyObject* values);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_TRACED_CALL_H_
