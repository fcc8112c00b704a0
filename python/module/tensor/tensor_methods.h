// The table of dovetail.Tensor's methods. What they do stands in the files that they come from.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_TENSOR_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_TENSOR_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// For tp_methods.
extern PyMethodDef tensor_methods[];

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_TENSOR_METHODS_H_
