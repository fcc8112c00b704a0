// Basic indexing: t[1], t[1:, ::-2], t[..., None], and writes through it.
//
//   PyObject* row = TensorGetItem(tensor, key);           // a view: shares the memory
//   int failed = TensorSetItem(tensor, key, value);       // -1 with an error set
//
// Keys are ints (objects with __index__), slices of any step, Ellipsis, None, and tuples of these,
// with NumPy's meaning. Bools, lists and arrays are no basic indices and raise TypeError. Indexing
// with as many ints as dimensions gives a 0-D tensor. Views inherit requires_grad and read-only.
// The assigned value is a number, nested lists, or any object that can be exchanged (assign.h); it
// is broadcast. Slots of the type object; they need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_

#include <Python.h>

namespace dovetail::python {

// mp_subscript. IndexError out of range, TypeError for keys of other kinds.
PyObject* TensorGetItem(PyObject* self, PyObject* key);

// mp_ass_subscript. ValueError for a read-only tensor, another type, or shapes that do not go
// together; TypeError for a deletion (value nullptr).
int TensorSetItem(PyObject* self, PyObject* key, PyObject* value);

// mp_length, sq_length: the size of the first dimension. TypeError for a 0-D tensor.
Py_ssize_t TensorLength(PyObject* self);

// sq_item: what iteration calls. IndexError at the end, TypeError for a 0-D tensor.
PyObject* TensorItem(PyObject* self, Py_ssize_t index);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_INDEX_H_
