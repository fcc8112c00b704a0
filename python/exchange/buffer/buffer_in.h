// Python's buffer protocol, in: any object that has it as an N-D tensor.
//
//   Tensor t;
//   if (!ImportBuffer(memoryview, &t)) return nullptr;
//
// No copy. Shape, strides (of any sign), type and read-only are those that the buffer tells; it is
// held until the memory is no longer used, and released exactly once, on errors too. frombuffer.h
// reads a buffer's bytes as a type of the caller's choosing instead.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BUFFER_BUFFER_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_BUFFER_BUFFER_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// False with an error set: what the owner says, TypeError for an object without the protocol,
// ExchangeError for a buffer that can't be shared (interop/buffer/import.h). Needs the GIL.
bool ImportBuffer(PyObject* object, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BUFFER_BUFFER_IN_H_
