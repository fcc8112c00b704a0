// The attributes of dovetail.Tensor: shape, strides, dtype, device, …
//
// A table for tp_getset. Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_ATTRIBUTES_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_ATTRIBUTES_H_

#include <Python.h>

namespace dovetail::python {

extern PyGetSetDef tensor_attributes[];

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_ATTRIBUTES_H_
