// dovetail.backends(): who serves which devices, and why there are none.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_

#include <Python.h>

namespace dovetail::python {

// A function of the module, METH_NOARGS.
PyObject* BackendsFunction(PyObject* module, PyObject*);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_
