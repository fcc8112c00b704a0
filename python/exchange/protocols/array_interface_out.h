// The dict of __array_interface__ and __cuda_array_interface__, version 3.
//
// Source: numpy.org/doc/stable/reference/arrays.interface.html. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_OUT_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_OUT_H_

#include <Python.h>

#include <string>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// A new dict with version, shape, typestr, data and strides, the last None where the tensor is
// row-major. Whoever reads the address keeps the tensor alive. nullptr with an error set.
PyObject* ArrayInterfaceDict(const Tensor& tensor, const std::string& typestr, const void* data);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_OUT_H_
