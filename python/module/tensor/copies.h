// Copies of tensors: the methods copy(), contiguous() and to(), and dovetail.copyto().
//
// Functions for method tables. They need the GIL, release it for large copies (without_gil.h) and
// return nullptr with an error set. New tensors are writable and without gaps.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_COPIES_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_COPIES_H_

#include <Python.h>

#include "dovetail/core/copy.h"

namespace dovetail::python {

// A copy as a new object, with the mark for autograd where its type may have it.
PyObject* NewCopy(PyObject* self, const CopiedOptions& target);

// 'C', 'F', 'A' or 'K'; leaves *order as it is for None and nullptr. False with a ValueError set.
bool ParseOrder(PyObject* value, MemoryOrder* order);

// copy(order="C"): always new memory.
PyObject* CopyMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* DeepCopyMethod(PyObject* self, PyObject* memo);

// The tensor itself if it is row-major without gaps, else a copy.
PyObject* ContiguousMethod(PyObject* self, PyObject* unused);

// to(dtype), to(device, dtype=None), to(other), each with non_blocking=False and copy=False, and
// all by keyword, as in torch. The tensor itself if nothing changes, else a copy in its memory
// order.
PyObject* ToMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// copyto(dst, src, casting="same_kind").
PyObject* CopyToFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_COPIES_H_
