// Python's buffer protocol, out: memoryview(t), bytes(t), numpy.asarray(t).
//
//   memoryview(dt.arange(6).reshape(2, 3))[1, 2]          # 5
//
// A buffer shares the tensor's memory and keeps it alive; shape and strides are the tensor's own.
// ExchangeError (a BufferError) for memory that the host can't reach, tensors that require
// gradient, a writable request to a read-only tensor, a consumer that takes no strides where they
// matter, and types that the protocol has no format for, which consumers of plain bytes may have.
// Source: docs.python.org/3/c-api/buffer.html.

#ifndef DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_
#define DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// bf_getbuffer and bf_releasebuffer. They need the GIL.
int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags);
void ReleaseTensorBuffer(PyObject* self, Py_buffer* view);

// Element 0, or some address where there is none: some consumers take no null pointer.
void* AddressOf(const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_
