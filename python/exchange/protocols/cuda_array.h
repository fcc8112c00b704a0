// The CUDA Array Interface in both directions.
//
//   Tensor tensor;
//   ExchangeResult result = ImportByCudaArrayInterface(x, &tensor);
//   PyObject* dict = ExportCudaArrayInterface(tensor);
//
// Nothing is copied. An import keeps the object alive until the memory is no longer used. After an
// export, whoever reads the address keeps the tensor alive. interop/cuda_array has the rules of
// streams and devices. Source: numba.readthedocs.io, "CUDA Array Interface (Version 3)".
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CUDA_ARRAY_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CUDA_ARRAY_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared.
ExchangeResult ImportByCudaArrayInterface(PyObject* x, Tensor* tensor);

// The dict of version 3. nullptr with an error set: AttributeError for a tensor that is not on a
// GPU of CUDA or ROCm and for a type that has no type string, else ExchangeError.
PyObject* ExportCudaArrayInterface(const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_CUDA_ARRAY_H_
