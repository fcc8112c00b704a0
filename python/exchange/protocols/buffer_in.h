// Imports objects with Python's buffer protocol as N-D tensors.
//
//   Tensor t;
//   if (!ImportBuffer(memoryview, &t)) return nullptr;
//
// Nothing is copied. Shape, strides of any sign, type and access are those of the buffer. The
// buffer is held until the memory is no longer used, and released exactly once, on errors too.
// bytes_in.h gives the bytes for a type of the caller's choice instead.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// False with an error set: what the owner raises, TypeError for an object without the protocol,
// ExchangeError for a buffer that can't be shared (interop/buffer/import.h). `*is_refused` is set
// if it is the owner's BufferError: the owner may be asked by another protocol. Needs the GIL.
bool ImportBuffer(PyObject* object, Tensor* tensor, bool* is_refused = nullptr);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_IN_H_
