// The attributes t.__array_interface__, t.__cuda_array_interface__ and
// t.__sycl_usm_array_interface__.
//
// Each is a dict. Whoever reads the address keeps the tensor alive. Getters of the
// type: they need the GIL and return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_INTERFACE_ATTRIBUTES_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_INTERFACE_ATTRIBUTES_H_

#include <Python.h>

namespace dovetail::python {

// AttributeError, so that the attribute reads as absent, where NumPy could not name the type, the
// memory is not the host's, or gradients are required.
PyObject* TensorArrayInterface(PyObject* self, void* closure);

// AttributeError, as above, for a tensor that is not on a GPU of CUDA or ROCm and for a type
// without a type string. ExchangeError for a tensor that requires gradients.
PyObject* TensorCudaArrayInterface(PyObject* self, void* closure);

// The same for a tensor that is not on a device of oneAPI.
PyObject* TensorUsmArrayInterface(PyObject* self, void* closure);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_INTERFACE_ATTRIBUTES_H_
