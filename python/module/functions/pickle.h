// What dovetail._pickle needs of C++: the memory of a tensor as bytes, and a tensor in such bytes.
//
// All functions need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_

#include <Python.h>

namespace dovetail::python {

// _memory_of(tensor): what a pickle of the tensor needs, a tuple of
// - a tensor of uint8: all of its Storage;
// - another: the part that the elements reach, or None if they leave gaps in it or repeat;
// - whether all of the Storage is worth pickling for this tensor alone;
// - WriteCount() (assign.h);
// - the address of element 0;
// - the fields of _tensor_in() but the offset. The strides are None if the tensor is row-major.
// Both tensors of uint8 share the memory and have the tensor's access.
PyObject* MemoryOfFunction(PyObject* module, PyObject* tensor);

// _tensor_in(memory, (offset, dtype, shape, strides, readonly, padded, requires_grad)): a tensor in
// `memory`, a contiguous 1-D tensor of uint8, element 0 `offset` bytes from its start. Without
// strides (None) it is row-major. It is read-only if `memory` is. `padded` is Packing::kPadded.
// TypeError for a field of another type; ValueError if an element would lie outside.
PyObject* TensorInFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_PICKLE_H_
