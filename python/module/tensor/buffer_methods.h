// The buffer protocol of dovetail.Tensor: memoryview(t), bytes(t), numpy.asarray(t).
//
//   memoryview(dt.arange(6).reshape(2, 3))[1, 2]          # 5

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_BUFFER_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_BUFFER_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// bf_getbuffer and bf_releasebuffer. They need the GIL. -1 with an error set: what buffer_out.h
// raises, and ExchangeError for a tensor that requires gradients and, in no_copies(), for consumers
// of which some copy.
int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags);
void ReleaseTensorBuffer(PyObject* self, Py_buffer* view);

// A pickle.PickleBuffer of the tensor, which shares its memory, in no_copies() as well.
PyObject* NewPickleBuffer(PyObject* module, PyObject* self);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_BUFFER_METHODS_H_
