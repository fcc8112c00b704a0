// The functions of dovetail._core, for the module's method table (module.cc).
//
// All need the GIL and return nullptr with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_FUNCTIONS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_FUNCTIONS_H_

#include <Python.h>

namespace dovetail::python {

// In factory.cc, arange.cc. New tensors: tensor, to_tensor, empty, zeros, full, arange.
//
//   dt.tensor([[1, 2], [3, 4]])             dt.full((2, 3), 0.5)
//   dt.zeros(2, 3, dtype=dt.bfloat16)       dt.arange(0, 1, 0.25)
//
// Each owns new memory on the requested device. Without one that is the CPU, or the device of the
// tensor that it is made from. ValueError for bad shapes and values, TypeError for
// bad arguments, OverflowError for numbers out of range (scalar.h), RuntimeError for a device
// without backend.

// tensor(data, *, dtype=None, device=None, requires_grad=False): always copies. Numbers and nested
// sequences (nested.h), or anything that can be exchanged, which keeps its type unless dtype is
// given; then each element is converted, floats into integers without their fractions.
PyObject* MakeTensor(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// to_tensor(data, dtype=None, place=None, stop_gradient=True): Paddle's name for the same.
PyObject* ToTensor(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// empty(*shape, dtype=float32, device=None) and zeros likewise; the shape may also be one sequence,
// or be named shape= or size=.
PyObject* Empty(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* Zeros(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// full(shape, fill_value, *, dtype=None, device=None); the type is that of tensor(fill_value).
PyObject* Full(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// arange([start,] stop[, step], *, dtype=None, device=None): ceil((stop - start) / step) numbers.
// int64 from ints, float32 if one is a float. ValueError for a step of 0 or in the wrong
// direction, and for fractions in an integer type. In arange.cc.
PyObject* Arange(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// In from_dlpack.cc. The functions of the module that import by one named protocol.
//
// Each returns a new dovetail.Tensor that shares the memory of `x`. Errors: AttributeError for an
// object without the protocol, ExchangeError for memory that can't be shared, or what `x` raises.

// from_dlpack(x, /, *, device=None, copy=None): `x` has __dlpack__ and __dlpack_device__, or is a
// capsule of either kind.
PyObject* FromDLPackFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

// from_arrow(x, /), from_array_interface(x, /), from_cuda_array_interface(x, /),
// from_usm_array_interface(x, /)
PyObject* FromArrowFunction(PyObject* module, PyObject* x);
PyObject* FromArrayInterface(PyObject* module, PyObject* x);
PyObject* FromCudaArrayInterface(PyObject* module, PyObject* x);
PyObject* FromUsmArrayInterface(PyObject* module, PyObject* x);

// In frombuffer.cc. frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): the
// bytes of an object with the buffer protocol as a 1-D tensor.
//
//   t = dt.frombuffer(array.array("i", [1, 2, 3]), dtype=dt.int32)
//
// torch.frombuffer's rules. The memory is shared; `offset` counts bytes and need not be aligned,
// `count` counts elements, and a negative one takes all. A read-only buffer gives a read-only
// tensor. Unlike torch the buffer is held until the memory is no longer used: resizing its owner
// raises BufferError meanwhile. Elements that share bytes are read packed, lowest bits first.
//
// ValueError for an object without the protocol or whose bytes do not lie in one run, an empty
// buffer, a count of 0 or beyond the end, an offset outside of the buffer, bytes left over where
// all are taken, and requires_grad where the type has none.

PyObject* FromBuffer(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

// In memory.cc. Backends from other shared objects, and the allocators of devices:
// register_backend, allocators, set_allocator, allocator_stats, trim_memory.
//
//   dt.set_allocator("cuda:0", "caching(async)")
//   dt.allocator_stats("cuda:0")["allocated_bytes"]

// register_backend(capsule, /)
PyObject* RegisterBackendFunction(PyObject* module, PyObject* capsule);

// allocators(device, kind="device")
PyObject* AllocatorsFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);
// _set_allocator(device, allocator, kind), for dovetail.set_allocator: a name, None, a capsule
// "dovetail_allocator", or a tuple (allocate, deallocate, owner) of two addresses or two callables
// (python_sources.h).
PyObject* SetAllocatorFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
// allocator_stats(device, kind="device")
PyObject* AllocatorStatsFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);
// trim_memory(device, keep=0, kind="device")
PyObject* TrimMemoryFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

// In backends.cc. dovetail.backends(): each backend with its number of devices, or why it has none;
// and the files of their drivers.

PyObject* BackendsFunction(PyObject* module, PyObject*);
PyObject* LibraryFilesFunction(PyObject* module, PyObject*);

// In threads.cc. dovetail.set_num_threads() and get_num_threads(): the most threads that one large
// copy uses.

PyObject* GetNumThreadsFunction(PyObject* module, PyObject* unused);
PyObject* SetNumThreadsFunction(PyObject* module, PyObject* count);

// In pickle.cc. What dovetail._pickle needs of C++: the memory of a tensor as bytes, and a tensor
// in such bytes.

// _memory_of(tensor): what a pickle of the tensor needs, a tuple of
// - a tensor of uint8: all of its Storage;
// - another: the part that the elements reach, or None if they leave gaps in it or repeat;
// - whether all of the Storage is worth pickling for this tensor alone;
// - WriteCount() (assign.h);
// - the address of element 0;
// - the fields of _tensor_in() but the offset. The strides are None if the tensor is row-major.
// Both tensors of uint8 share the memory and have the tensor's access.
PyObject* MemoryOfFunction(PyObject* module, PyObject* tensor);

// _tensor_in(memory, (offset, dtype, shape, strides, readonly, padded, requires_grad)): a tensor in
// `memory`, a contiguous 1-D tensor of uint8, element 0 `offset` bytes from its start. Without
// strides (None) it is row-major. It is read-only if `memory` is. `padded` is Packing::kPadded.
// TypeError for a field of another type; ValueError if an element would lie outside.
PyObject* TensorInFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// In build_facts.cc. What the extension module was built with and finds, for
// dovetail.show_config().

// A dict of the compiler, the SIMD levels and the versions
// of the interfaces.
PyObject* BuildFactsFunction(PyObject* module, PyObject*);

// In explain.cc. What explain() asks the doors: an import that tells how it went.

// _trace_import(x, device, copy) -> dict: from_dlpack(x, device=device, copy=copy), with
//   tensor           the tensor, or None
//   error            the exception that it raised instead, or None
//   door             the way in that was taken, or None
//   version, flags   what the producer's capsule said, or None
//   producer_copied, consumer_copied
// A capsule is consumed, as it is by from_dlpack.
PyObject* TraceImport(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _trace_convert(x, target, copy) -> dict: the same of convert(x, target, copy=copy), whose result
// is let go, with
//   tensor           x as a tensor, or None where it did not come in (or is one of the class)
//   misfit           why the class takes no memory of that kind, or None
//   target_copied    whether the library of an unknown class made the copy
PyObject* TraceConvert(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// _private_reads() -> list, _check_private_reads() -> dict (python/exchange/peers/private_reads.h).
PyObject* PrivateReadsFunction(PyObject* module, PyObject* unused);
PyObject* CheckPrivateReadsFunction(PyObject* module, PyObject* unused);

// In convert.cc. convert(x, target, /, *, copy=None)
PyObject* ConvertFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);

// In asarray.cc. asarray(x, /, *, dtype=None, device=None, copy=None): x as a tensor over its own
// memory. What is not simply convert(x, dovetail.Tensor) is done by dovetail._creation.
PyObject* AsArrayFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames);

// register_converter(type, from_tensor)
PyObject* RegisterConverter(PyObject* module, PyObject* const* args, Py_ssize_t nargs);

// Makes the table of register_converter(). Called once, before the other functions. False with an
// error set.
bool MakeConverterTable();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_FUNCTIONS_H_
