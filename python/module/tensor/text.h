// A tensor as text: what repr(t), str(t) and format(t, spec) give. Slots and methods of the type
// object; they need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_

#include <Python.h>

namespace dovetail::python {

// The values and what marks the tensor (core/format_values.h).
PyObject* TensorRepr(PyObject* self);

// __format__: that of the number for a tensor of one, so that f"{loss:.3f}" works; without a spec
// the repr. TypeError for a spec and several numbers.
PyObject* TensorFormat(PyObject* self, PyObject* spec);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_TEXT_H_
