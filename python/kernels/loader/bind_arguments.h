// Binds the arguments of a call of Python's to a kernel's parameters, and loads them.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_BIND_ARGUMENTS_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_BIND_ARGUMENTS_H_

#include <Python.h>

#include <cstddef>

#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// `objects` has an entry for each of `loaded.parameters`: the argument or the default, borrowed.
// False with a TypeError set for arguments that are missing, too many, given twice or unknown.
bool BindArguments(const LoadedKernel& loaded, PyObject* const* args, Py_ssize_t nargs,
                   PyObject* kwnames, PyObject** objects);

// Loads argument `i`, which is no tensor: a number, a bool, a str, or a list of numbers. False with
// a TypeError or an OverflowError set.
bool LoadValue(size_t i, PyObject* object, LoadedCall* call);

// Loads argument `i`, a tensor or a list of tensors. An Out that is None is left for later. False
// with the error of Dovetail_Borrow() set, or a TypeError.
bool LoadTensors(size_t i, PyObject* object, LoadedCall* call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_BIND_ARGUMENTS_H_
