// A tensor's values as Python objects: tolist(), item(), and the slots of bool(t), int(t),
// float(t), complex(t) and range(t).
//
//   PyObject* lists = TensorToList(tensor, nullptr);      // [[1, 2], [3, 4]]; a number for 0-D
//   PyObject* number = TensorItemMethod(tensor, nullptr); // of the only element
//
// Elements are bool, int, float and complex; every floating-point type is exact as a float.
// ValueError if one element is needed and the tensor has more or none, TypeError if the numbers
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
// 0-D tensors of integers only. bytes(t) reads an object with __index__ as a count, but must give
// the elements of every other tensor.
PyObject* TensorIndex(PyObject* self);
PyObject* TensorComplex(PyObject* self, PyObject* unused);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_VALUES_H_
