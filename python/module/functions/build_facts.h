// What the extension module was built with and finds, for dovetail.show_config().

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_BUILD_FACTS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_BUILD_FACTS_H_

#include <Python.h>

namespace dovetail::python {

// A function of the module, METH_NOARGS: a dict of the compiler, the SIMD levels and the versions
// of the interfaces.
PyObject* BuildFactsFunction(PyObject* module, PyObject*);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_BUILD_FACTS_H_
