// NumPy's array interface, out: t.__array_interface__.
//
//   numpy.asarray(holder)       // of any object that hands t.__array_interface__ on
//
// A dict of version 3. Whoever takes the address out of it keeps the tensor alive. Source:
// numpy.org/doc/stable/reference/arrays.interface.html. Needs the GIL; nullptr with an error set.

#ifndef DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_OUT_H_
#define DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_OUT_H_

#include <Python.h>

#include <string>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// The attribute. AttributeError, so that it reads as absent, where NumPy could not name the type,
// the memory is not the host's, or gradients are required.
PyObject* TensorArrayInterface(PyObject* self, void* closure);

// A new dict with what both array interfaces (cuda_array.h has the other) say of `tensor`: version,
// shape, typestr, data and strides, the last None where the tensor is row-major.
PyObject* ArrayInterfaceDict(const Tensor& tensor, const std::string& typestr, const void* data);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARRAY_INTERFACE_OUT_H_
