// Python's buffer protocol, in both directions.
//
//   Tensor tensor;
//   if (!ImportBuffer(memoryview, &tensor)) return nullptr;
//
//   int GetBuffer(PyObject* self, Py_buffer* view, int flags) {        // bf_getbuffer
//     return ExportBuffer(TensorOf(self), self, view, flags);
//   }
//
// Nothing is copied. An import has the shape, strides of any sign, type and access of the buffer,
// which is held until the memory is no longer used, and released exactly once, on errors too.
// HeldBytes are its bytes alone, for a reader that gives them a type of its own (frombuffer).
// Source: docs.python.org/3/c-api/buffer.html. Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

// One run of bytes. `release` lets go of the memory and is called once, on any thread.
struct HeldBytes {
  void* data;
  int64_t nbytes;
  Access access;
  Storage::Release release;
};

// Of an exact bytes object, and true: its bytes stay where they are as long as it lives, so only
// the object is held.
bool HoldBytesObject(PyObject* object, HeldBytes* bytes);

// Of any object with the buffer protocol, whose buffer is held. False with an error set:
// ValueError for an object without the protocol or whose bytes do not lie in one run.
bool HoldBufferBytes(PyObject* object, HeldBytes* bytes);

// False with an error set: what the owner raises, TypeError for an object without the protocol,
// ExchangeError for a buffer that can't be shared (interop/buffer/import.h). `*is_refused` is set
// if it is the owner's BufferError: the owner may be asked by another protocol.
bool ImportBuffer(PyObject* object, Tensor* tensor, bool* is_refused = nullptr);

// Borrows the memory of an object whose buffers are read-only and row-major, and holds the buffer
// until Dovetail_Release(). kNotTaken for an object that gives no such buffer and for what
// ImportBuffer() refuses; kError for an interrupt.
ExchangeResult BorrowRowMajorBuffer(PyObject* object, DovetailBorrowed* borrowed);

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

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_BUFFER_H_
