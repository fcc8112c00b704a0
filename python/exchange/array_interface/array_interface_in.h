// NumPy's array interface, in: objects that have __array_interface__ and nothing better.
//
//   Tensor t;
//   if (ImportByArrayInterface(x, &t) == ExchangeResult::kError) return nullptr;
//
// No copy: the object is kept alive until the memory is no longer used, and with it the buffer
// where its memory is one. Source: numpy.org/doc/stable/reference/arrays.interface.html. Everything
// needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_INTERFACE_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_INTERFACE_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/support/exchange_result.h"

namespace dovetail::python {

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared (interop/array_interface/describe.h).
ExchangeResult ImportByArrayInterface(PyObject* x, Tensor* tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_INTERFACE_IN_H_
