// dovetail.set_num_threads() and get_num_threads(): the most threads that one large copy uses.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_THREADS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_THREADS_H_

#include <Python.h>

namespace dovetail::python {

PyObject* GetNumThreadsFunction(PyObject* module, PyObject* unused);
PyObject* SetNumThreadsFunction(PyObject* module, PyObject* count);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_THREADS_H_
