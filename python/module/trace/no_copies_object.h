// What dovetail.no_copies() enters and leaves: a NoCopiesScope of the calling thread.

#ifndef DOVETAIL_PYTHON_MODULE_TRACE_NO_COPIES_OBJECT_H_
#define DOVETAIL_PYTHON_MODULE_TRACE_NO_COPIES_OBJECT_H_

#include <Python.h>

namespace dovetail::python {

// A capsule that is the scope. Leaving it twice, or on another thread, is a RuntimeError.
PyObject* NoCopiesEnterFunction(PyObject* module, PyObject* unused);
PyObject* NoCopiesLeaveFunction(PyObject* module, PyObject* scope);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TRACE_NO_COPIES_OBJECT_H_
