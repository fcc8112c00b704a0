// A tensor's values as Python objects: tolist(), item(), and what makes bool(t), int(t), float(t),
// complex(t) and range(t) work.
//
//   PyObject* lists = TensorToList(tensor, nullptr);      // [[1, 2], [3, 4]]; a number for 0-D
//   PyObject* number = TensorItemMethod(tensor, nullptr); // of the only element
//
// Elements are bool, int, float and complex; every floating-point type is exact as a float.
// ValueError where one element is needed and there are more or none, TypeError where the numbers
// have no such form, ExchangeError for memory that the host can't reach. Slots and methods of the
// type object; they need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_VALUES_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_VALUES_H_

#include <Python.h>

namespace dovetail::python {

PyObject* TensorToList(PyObject* self, PyObject* unused);
PyObject* TensorItemMethod(PyObject* self, PyObject* unused);

// nb_bool: -1 with an error set.
int TensorBool(PyObject* self);
PyObject* TensorInt(PyObject* self);
PyObject* TensorFloat(PyObject* self);
// 0-D tensors of integers only: what has an __index__ is a count to bytes(), which is to give the
// elements of any other tensor.
PyObject* TensorIndex(PyObject* self);
PyObject* TensorComplex(PyObject* self, PyObject* unused);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_VALUES_H_
