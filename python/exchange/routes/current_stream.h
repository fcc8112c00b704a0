// The stream on which a library works now.
//
//   void* stream;
//   if (!FindCurrentStream(x, device, &stream)) return nullptr;
//
// Asked of the exchange API of the object's class (PyTorch, Paddle, tvm-ffi, Dovetail), or of CuPy.
// Other libraries don't say their stream: Dovetail's own stands for it, before which they order
// their work when they hand out memory. NULL is the default stream, and for host memory.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_CURRENT_STREAM_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_CURRENT_STREAM_H_

#include <Python.h>

#include "dlpack/dlpack.h"

namespace dovetail::python {

// Whether the library says it.
bool SaysItsStream(PyObject* like);

// `like` may be nullptr. False with the library's error set. Needs the GIL.
bool FindCurrentStream(PyObject* like, DLDevice device, void** stream);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_CURRENT_STREAM_H_
