// The methods and attributes of dovetail.Tensor, for tp_methods (tensor_methods.cc) and tp_getset
// (attributes.cc), and functions of the module over the same code.
//
// All need the GIL and return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_METHODS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_METHODS_H_

#include <Python.h>

namespace dovetail::python {

// In view_methods.cc. The methods of dovetail.Tensor that give views, and its mark for autograd.
//
// Views share the
// memory, its access and the mark of the tensor that they are made from.

PyObject* PermuteMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* TransposeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* ReshapeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* DetachMethod(PyObject* self, PyObject* unused);
PyObject* RequiresGradMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* DataPointerMethod(PyObject* self, PyObject* unused);
PyObject* IsContiguousMethod(PyObject* self, PyObject* unused);

// The .T attribute.
PyObject* ReverseDims(PyObject* self);

// In shape_methods.cc. The methods of dovetail.Tensor that change its shape, under NumPy's and
// PyTorch's names.
//
// Views share the
// memory, its access and the mark for autograd. Dimensions may be negative, counting from the end:
// IndexError if there is no such one.

// squeeze(dim=None), axis= too: without those dimensions, which must have one element; by default
// without all that do.
PyObject* SqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* UnsqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);
// flatten(start_dim=0, end_dim=-1): a view where strides can say it, else a copy.
PyObject* FlattenMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* RavelMethod(PyObject* self, PyObject* unused);
PyObject* SwapAxesMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* MoveAxisMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);
// The .mT attribute: ValueError below two dimensions.
PyObject* MatrixTransposed(PyObject* self);
// expand(*sizes), -1 keeps a size; broadcast_to(shape). Read-only if elements repeat.
PyObject* ExpandMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* BroadcastToMethod(PyObject* self, PyObject* shape);
// view(*shape), never a copy; view(dtype), the same bytes as another type.
PyObject* ViewMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs);

// In copies.cc. Copies of tensors: the methods copy(), contiguous() and to(), and
// dovetail.copyto().
//
// They release the GIL for large copies (without_gil.h). New tensors are writable and without gaps.

// copy(order="C"): always new memory.
PyObject* CopyMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* DeepCopyMethod(PyObject* self, PyObject* memo);

// The tensor itself if it is row-major without gaps, else a copy.
PyObject* ContiguousMethod(PyObject* self, PyObject* unused);

// to(dtype), to(device, dtype=None), to(other), each with non_blocking=False and copy=False, and
// all by keyword, as in torch. The tensor itself if nothing changes, else a copy in its memory
// order.
PyObject* ToMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// copyto(dst, src, casting="same_kind").
PyObject* CopyToFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);

// In pytorch_methods.cc. Methods of dovetail.Tensor under names that programs written for PyTorch
// or NumPy use, for what has another name here or takes two steps.

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

// In dlpack_methods.cc. t.__dlpack__(), t.__dlpack_device__() and to_dlpack(t).
//
// Errors: what dlpack_out.h raises, and ExchangeError for a tensor that requires gradients.

// __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
PyObject* TensorDLPack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// __dlpack_device__()
PyObject* TensorDLPackDevice(PyObject* self, PyObject* unused);

// to_dlpack(tensor, *, max_version=None, stream=None, copy=None)
PyObject* ToDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// _to_immutable_consumer(tensor): a legacy capsule for a library that never writes. The memory may
// be read-only, though the capsule can't say so.
PyObject* ToImmutableConsumer(PyObject* module, PyObject* tensor);

// In protocol_methods.cc. t.__arrow_c_array__() and t.__arrow_c_device_array__(), by which
// pyarrow.array(t) shares memory.
//
// Errors: what protocols/arrow.h raises, and ExchangeError for a tensor that requires gradients.

// __arrow_c_array__(requested_schema=None)
PyObject* TensorArrowArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// __arrow_c_device_array__(requested_schema=None, **kwargs). NotImplementedError for keywords that
// are not None, as the protocol asks.
PyObject* TensorArrowDeviceArray(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);

// In numpy_methods.cc. t.numpy() and t.__array__().

// Tensor.numpy(). Imports NumPy. ExchangeError for memory that the host can't reach and tensors
// that require gradients, TypeError for types that neither NumPy nor ml_dtypes has.
PyObject* NumPyMethod(PyObject* self, PyObject* unused);

// Tensor.__array__(dtype=None, copy=None), which NumPy calls for what has no buffer: numpy(), and
// the arguments as its own arrays take them. Without it NumPy would make an array of objects.
PyObject* ArrayMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// In protocol_methods.cc. The attributes t.__array_interface__, t.__cuda_array_interface__ and
// t.__sycl_usm_array_interface__.
//
// Each is a dict. Whoever reads the address keeps the tensor alive.

// AttributeError, so that the attribute reads as absent, where NumPy could not name the type, the
// memory is not the host's, or gradients are required.
PyObject* TensorArrayInterface(PyObject* self, void* closure);

// AttributeError, as above, for a tensor that is not on a GPU of CUDA or ROCm and for a type
// without a type string. ExchangeError for a tensor that requires gradients.
PyObject* TensorCudaArrayInterface(PyObject* self, void* closure);

// The same for a tensor that is not on a device of oneAPI.
PyObject* TensorUsmArrayInterface(PyObject* self, void* closure);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_METHODS_H_
