// dovetail.backends(): each backend with its number of devices, or why it has none; and the files
// of their drivers.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_

#include <Python.h>

namespace dovetail::python {

// Functions of the module, METH_NOARGS.
PyObject* BackendsFunction(PyObject* module, PyObject*);
PyObject* LibraryFilesFunction(PyObject* module, PyObject*);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_BACKENDS_H_
