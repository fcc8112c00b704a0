// dovetail.DType: the Python class of element types, and one object for each of the list.
//
//   AddDTypeClass(module);            // dt.DType, dt.float32, dt.bfloat16, …
//
// Types without lanes are singletons, so that `t.dtype is dt.float32` holds.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_DTYPE_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_DTYPE_CLASS_H_

#include <nanobind/nanobind.h>

#include "dovetail/core/dtype.h"

namespace dovetail::python {

void AddDTypeClass(nanobind::module_& module);

// dt.float32, "float32", an object with __dlpack_data_type__ (a Paddle type), a NumPy, PyTorch, JAX
// or ml_dtypes type, or Python's bool, int, float (float32) and complex. A tensor is no type. False
// with a TypeError or ValueError set; ValueError for a NumPy type in the other byte order.
bool ParseDType(PyObject* value, DType* dtype);

// A new reference; nullptr with an error set.
PyObject* DTypeToPython(DType dtype);

// dovetail.dtype(value), METH_O: the DType that a name, a Python type or another library's type
// stands for.
PyObject* DTypeFunction(PyObject* module, PyObject* value);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_DTYPE_CLASS_H_
