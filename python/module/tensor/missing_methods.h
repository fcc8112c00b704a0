// Methods that other libraries' tensors have and dovetail.Tensor does not, such as sum(): an
// AttributeError that says who has them.
//
// Each is a property that raises, so that hasattr(t, "sum") is False and lookups of other names,
// found or not, cost what they cost without this file. dir(t) leaves the names out.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_MISSING_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_MISSING_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// Puts the properties into the dictionary of the type, which must be ready: the garbage collector
// finds it through them. False with an error set.
bool AddMissingMethods(PyTypeObject* type);

// __dir__ of the type.
PyObject* TensorDir(PyObject* self, PyObject* unused);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_MISSING_METHODS_H_
