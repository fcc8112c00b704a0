// What explain() asks the doors: an import that tells how it went.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_EXPLAIN_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_EXPLAIN_H_

#include <Python.h>

namespace dovetail::python {

// _trace_import(x, device, copy) -> dict: from_dlpack(x, device=device, copy=copy), with
//   tensor           the tensor, or None
//   error            the exception that it raised instead, or None
//   door             the way in that was taken, or None
//   version, flags   what the producer's capsule said, or None
//   producer_copied, consumer_copied
// A capsule is consumed, as it is by from_dlpack. Needs the GIL.
PyObject* TraceImport(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _trace_convert(x, target, copy) -> dict: the same of convert(x, target, copy=copy), whose result
// is let go, with
//   tensor           x as a tensor, or None where it did not come in (or is one of the class)
//   misfit           why the class takes no memory of that kind, or None
//   target_copied    whether the library of an unknown class made the copy
PyObject* TraceConvert(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _private_reads() -> list, _check_private_reads() -> dict (python/exchange/peers/private_reads.h).
PyObject* PrivateReadsFunction(PyObject* module, PyObject* unused);
PyObject* CheckPrivateReadsFunction(PyObject* module, PyObject* unused);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_EXPLAIN_H_
