// "module.Class" of a class, for errors and reports.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_CLASS_NAME_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_CLASS_NAME_H_

#include <Python.h>

#include <string>

namespace dovetail::python {

// Keeps a Python error that is set. Needs the GIL.
std::string ClassName(PyTypeObject* type);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_CLASS_NAME_H_
