// The CUDA Array Interface, both ways: t.__cuda_array_interface__, and objects that have it.
//
//   dt.from_cuda_array_interface(x)          // shares the memory of x
//
// No copy. On import the object is kept alive until the memory is no longer used; on export whoever
// takes the address out of the dict keeps the tensor alive. The rules of streams and devices stand
// in interop/cuda_array. Source: numba.readthedocs.io, "CUDA Array Interface (Version 3)".
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_SRC_CUDA_ARRAY_H_
#define DOVETAIL_PYTHON_SRC_CUDA_ARRAY_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/src/exchange_in.h"

namespace dovetail::python {

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared.
ExchangeResult ImportByCudaArrayInterface(PyObject* x, Tensor* tensor);

// from_cuda_array_interface(x, /): AttributeError for an object without the attribute.
PyObject* FromCudaArrayInterface(PyObject* module, PyObject* x);

// The attribute, a dict of version 3. AttributeError, so that it reads as absent, for tensors that
// are not on a GPU of CUDA or ROCm and for types that have no type string; ExchangeError for one
// that requires gradient.
PyObject* TensorCudaArrayInterface(PyObject* self, void* closure);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_CUDA_ARRAY_H_
