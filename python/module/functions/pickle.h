// What dovetail._pickle needs of C++: the memory of a tensor as bytes, and a tensor in such bytes.
//
// All functions need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_

#include <Python.h>

namespace dovetail::python {

// _memory_of(tensor): a tuple of two tensors of uint8 that share the memory of `tensor`, and
// whether sub-byte elements are padded. The first is the whole Storage, the second the part that
// the elements reach, or None if they leave gaps in that part or repeat in it. Both have the
// tensor's access.
PyObject* MemoryOfFunction(PyObject* module, PyObject* tensor);

// _tensor_in(memory, (offset, dtype, shape, strides, readonly, padded, requires_grad)): a tensor in
// `memory`, a contiguous 1-D tensor of uint8, element 0 `offset` bytes from its start. Without
// strides (None) it is row-major. It is read-only if `memory` is. `padded` is Packing::kPadded.
// TypeError for a field of another type; ValueError if an element would lie outside.
PyObject* TensorInFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_
