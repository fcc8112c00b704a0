// dovetail.ExchangeError and dovetail.StreamError.
//
// ExchangeError is a BufferError, which the array API standard names for exports that can't be
// made, and a ValueError, which it names for copy=False where a copy would be needed. StreamError
// is an ExchangeError and a RuntimeError, which NumPy raises for a stream.

#ifndef DOVETAIL_PYTHON_MODULE_ERRORS_H_
#define DOVETAIL_PYTHON_MODULE_ERRORS_H_

#include <Python.h>

namespace dovetail::python {

// Creates both classes in `module` and passes them to exchange/support/error.h. False with an error
// set. Needs the GIL.
bool AddExchangeErrors(PyObject* module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_ERRORS_H_
