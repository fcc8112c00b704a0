// A tensor as text: repr(t), str(t) and format(t, spec). Slots and methods of the type
// object; they need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_

#include <Python.h>

namespace dovetail::python {

// The values, with the type, device and other marks (core/format_values.h).
PyObject* TensorRepr(PyObject* self);

// __format__: formats the number of a one-element tensor, so f"{loss:.3f}" works. Without a spec it
// is the repr. TypeError for a spec and several numbers.
PyObject* TensorFormat(PyObject* self, PyObject* spec);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_
