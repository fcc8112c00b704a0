// dovetail.DType: the Python class of element types, and one object for each of the list.
//
//   AddDTypeClass(module);            // dt.DType, dt.float32, dt.bfloat16, …
//
// Types without lanes are singletons, so that `t.dtype is dt.float32` holds.

#ifndef DOVETAIL_PYTHON_SRC_DTYPE_CLASS_H_
#define DOVETAIL_PYTHON_SRC_DTYPE_CLASS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

void AddDTypeClass(nanobind::module_& module);

// dovetail.dtype(value), METH_O: the DType that a name, a Python type or another library's type
// stands for.
PyObject* DTypeFunction(PyObject* module, PyObject* value);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_DTYPE_CLASS_H_
