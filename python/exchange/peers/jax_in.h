// Borrows JAX arrays for a call of an extension's function.
//
//   if (jax_array_impl.Is(Py_TYPE(x))) result = BorrowJaxArray(x, &borrowed);
//
// On the CPU by the buffer protocol, which waits for the array's value, and takes a twentieth of
// the time of __dlpack__. Types that buffers do not have (bfloat16) and arrays on other devices
// come by __dlpack__. The memory is read-only in any case: JAX's arrays never change.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_IN_H_

#include <Python.h>

#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/exchange_result.h"

namespace dovetail::python {

// `x` is a JAX array with a value (jax_array_impl). Needs the GIL.
ExchangeResult BorrowJaxArray(PyObject* x, DovetailBorrowed* borrowed);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_JAX_IN_H_
