// __sycl_usm_array_interface__ in both directions.
//
//   Tensor tensor;
//   ExchangeResult result = ImportByUsmArrayInterface(x, &tensor);
//   PyObject* dict = ExportUsmArrayInterface(tensor);
//
// Nothing is copied. An import keeps the object alive until the memory is no longer used, and makes
// the current stream wait for the queue that the dict names, if it names one. An export names the
// current stream's queue; the host has waited for the work on the memory, so any queue will do.
// After an export, whoever reads the address keeps the tensor alive.
// Source: dpctl's documentation, "SYCL USM array interface". Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_USM_ARRAY_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_USM_ARRAY_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared: without a SYCL runtime nothing tells the device of the memory.
ExchangeResult ImportByUsmArrayInterface(PyObject* x, Tensor* tensor);

// The dict of version 1. nullptr with an error set: AttributeError for a tensor that is not on a
// oneAPI device and for a type that has no type string, else ExchangeError.
PyObject* ExportUsmArrayInterface(const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_USM_ARRAY_H_
