// Exports tensors through Python's buffer protocol.
//
//   int GetBuffer(PyObject* self, Py_buffer* view, int flags) {        // bf_getbuffer
//     return ExportBuffer(TensorOf(self), self, view, flags);
//   }
//
// A buffer shares the tensor's memory, with the tensor's shape and strides. Source:
// docs.python.org/3/c-api/buffer.html. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_OUT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_OUT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Fills `view`, which holds `exporter`; `exporter` keeps `tensor` where it is. -1 with an
// ExchangeError (a BufferError) set for memory that the host can't reach, a writable request to a
// read-only tensor, a consumer without strides where they matter, and types that the protocol has
// no format for. Consumers of plain bytes may have those types.
int ExportBuffer(const Tensor& tensor, PyObject* exporter, Py_buffer* view, int flags);

// bf_releasebuffer for the above.
void ReleaseExportedBuffer(Py_buffer* view);

// Element 0, or some other address for a tensor without elements: some consumers refuse a null
// pointer.
void* AddressOf(const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_OUT_H_
