// Python's buffer protocol, out: memoryview(t), bytes(t), numpy.asarray(t), and NumPy's older array
// interface.
//
//   memoryview(dt.arange(6).reshape(2, 3))[1, 2]          # 5
//
// A buffer shares the tensor's memory and keeps it alive; shape and strides are the tensor's own.
// ExchangeError (a BufferError) for memory that the host can't reach, tensors that require gradient,
// a writable request to a read-only tensor, a consumer that takes no strides where they matter, and
// types that the protocol has no format for, which consumers of plain bytes may have. Sources:
// docs.python.org/3/c-api/buffer.html, numpy.org/doc/stable/reference/arrays.interface.html.

#ifndef DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_
#define DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_

#include <Python.h>

namespace dovetail::python {

// bf_getbuffer and bf_releasebuffer. They need the GIL.
int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags);
void ReleaseTensorBuffer(PyObject* self, Py_buffer* view);

// The attribute __array_interface__, a dict of version 3. AttributeError, so that it reads as absent,
// where NumPy could not name the type, the memory is not the host's, or gradients are required.
PyObject* TensorArrayInterface(PyObject* self, void* closure);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_BUFFER_PROTOCOL_H_
