// Methods of dovetail.Tensor under names that programs written for PyTorch or NumPy use, for what
// has another name here or takes two steps.
//
// Functions for tp_methods; all need the GIL and return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_PYTORCH_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_PYTORCH_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// Facts: numel(), dim(), element_size() (bytes), stride(dim=None) and storage_offset() (elements).
PyObject* NumElMethod(PyObject* self, PyObject* unused);
PyObject* DimMethod(PyObject* self, PyObject* unused);
PyObject* ElementSizeMethod(PyObject* self, PyObject* unused);
PyObject* StrideMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
// ValueError where element 0 is no whole number of elements from the start of the memory.
PyObject* StorageOffsetMethod(PyObject* self, PyObject* unused);
// The .is_cuda attribute.
PyObject* IsCuda(PyObject* self);

// Copies: cpu() and cuda(device=None), the tensor itself if it is there; to_device(device, /, *,
// stream=None) of the array API standard; astype(dtype, order="K", casting="unsafe", copy=True);
// clone().
PyObject* CpuMethod(PyObject* self, PyObject* unused);
PyObject* CudaMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* ToDeviceMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);
PyObject* AsTypeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* CloneMethod(PyObject* self, PyObject* unused);
// The elements in row-major order, as bytes.
PyObject* ToBytesMethod(PyObject* self, PyObject* unused);

// Writes: fill_(value), zero_(), copy_(src, non_blocking=False); each returns the tensor. Any cast
// is made, as PyTorch does.
PyObject* FillInPlaceMethod(PyObject* self, PyObject* value);
PyObject* ZeroInPlaceMethod(PyObject* self, PyObject* unused);
PyObject* CopyInPlaceMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_PYTORCH_METHODS_H_
