// Imports objects by NumPy's array interface.
//
//   Tensor t;
//   if (ImportByArrayInterface(x, &t) == ExchangeResult::kError) return nullptr;
//
// Nothing is copied. The object, or the buffer in its entry "data", is kept alive until the memory
// is no longer used. Source: numpy.org/doc/stable/reference/arrays.interface.html. Everything needs
// the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// kNotTaken: `x` has no such attribute. The error is what the attribute raised, or ExchangeError
// for memory that can't be shared (interop/array_interface/describe.h).
ExchangeResult ImportByArrayInterface(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_IN_H_
