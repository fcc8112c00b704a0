#include "dovetail/python/module/tensor/slots.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/module/arguments/call_package.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/values/values.h"

namespace dovetail::python {
namespace {

PyObject* ReduceEx(PyObject* self, PyObject* protocol) {
  return CallPackage("dovetail._pickle", "reduce_tensor", self, protocol);
}
PyObject* JaxArray(PyObject* self, PyObject*) {
  return CallPackage("dovetail._targets", "as_jax", self);
}
PyObject* ReprHtml(PyObject* self, PyObject*) {
  return CallPackage("dovetail._notebook", "to_html", self);
}
PyObject* ReprPretty(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2) return Raise(PyExc_TypeError, "_repr_pretty_() takes printer and cycle");
  return CallPackage("dovetail._notebook", "print_pretty", self, args[0]);
}
PyObject* ShallowCopy(PyObject* self, PyObject*) {
  return WrapTensor(Tensor(AsTensor(self)), AsTensorObject(self)->requires_grad.load());
}

}  // namespace

PyMethodDef tensor_methods[] = {
    FastKeywords<&TensorDLPack>(
        "__dlpack__",
        "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
        "The tensor as a DLPack capsule, which shares its memory (array API standard, 2024.12)."),
    NoArguments<&TensorDLPackDevice>(
        "__dlpack_device__", "__dlpack_device__($self, /)\n--\n\nDLPack's device type and index."),
    FastKeywords<&TensorArrowArray>(
        "__arrow_c_array__",
        "__arrow_c_array__($self, /, requested_schema=None)\n--\n\n"
        "The tensor as an Arrow schema and array that share its memory (PyCapsule interface)."),
    FastKeywords<&TensorArrowDeviceArray>(
        "__arrow_c_device_array__",
        "__arrow_c_device_array__($self, /, requested_schema=None, **kwargs)\n--\n\n"
        "The same for memory on any device."),
    NoArguments<&TensorToList>("tolist", "tolist($self, /)\n--\n\nThe elements as nested lists."),
    NoArguments<&TensorItemMethod>("item",
                                   "item($self, /)\n--\n\nThe only element, as a Python number."),
    NoArguments<&NumPyMethod>(
        "numpy",
        "numpy($self, /)\n--\n\nAn array of NumPy that shares the memory; types that "
        "NumPy does not have need ml_dtypes."),
    FastKeywords<&ArrayMethod>(
        "__array__",
        "__array__($self, /, dtype=None, copy=None)\n--\n\nWhat numpy.asarray() asks for."),
    NoArguments<&JaxArray>("__jax_array__",
                           "__jax_array__($self, /)\n--\n\nWhat jax.numpy.asarray() asks for."),
    Fast<&PermuteMethod>(
        "permute", "permute($self, /, *dims)\n--\n\nA view with the dimensions in that order."),
    Fast<&TransposeMethod>(
        "transpose",
        "transpose($self, /, *dims)\n--\n\n"
        "A view with the two dimensions exchanged; transpose() and transpose(order) reverse or\n"
        "reorder all, as in NumPy."),
    Fast<&ReshapeMethod>(
        "reshape",
        "reshape($self, /, *shape)\n--\n\nThe elements in another shape, one size of "
        "which may be -1: a view where strides allow it, else a copy."),
    Fast<&ViewMethod>(
        "view",
        "view($self, /, *shape)\n--\n\n"
        "view(*shape): the elements in another shape, one size of which may be -1; never a copy:\n"
        "ValueError where strides can't say it. view(dtype): the same bytes as another type."),
    FastKeywords<&SqueezeMethod>(
        "squeeze",
        "squeeze($self, /, dim=None, *, axis=None)\n--\n\n"
        "A view without these dimensions, an int or several, whose size must be 1; by default\n"
        "without all of size 1. dim and axis are two names of one thing."),
    FastKeywords<&UnsqueezeMethod>(
        "unsqueeze",
        "unsqueeze($self, /, dim)\n--\n\nA view with a new dimension of size 1 there."),
    FastKeywords<&FlattenMethod>(
        "flatten",
        "flatten($self, /, start_dim=0, end_dim=-1)\n--\n\n"
        "These dimensions as one: a view where strides allow it, else a copy."),
    NoArguments<&RavelMethod>("ravel",
                              "ravel($self, /)\n--\n\n"
                              "One dimension: a view where strides allow it, else a copy."),
    Fast<&SwapAxesMethod>("swapaxes",
                          "swapaxes($self, axis1, axis2, /)\n--\n\nA view with the two exchanged."),
    FastKeywords<&MoveAxisMethod>(
        "moveaxis",
        "moveaxis($self, /, source, destination)\n--\n\n"
        "A view with dimensions, an int or several, at other places; the others keep their order."),
    Fast<&ExpandMethod>(
        "expand",
        "expand($self, /, *sizes)\n--\n\n"
        "A read-only view that repeats dimensions of size 1 and new leading ones; -1 keeps a size."),
    OneArgument<&BroadcastToMethod>("broadcast_to",
                                    "broadcast_to($self, shape, /)\n--\n\nThe same, as in NumPy."),
    NoArguments<&ContiguousMethod>(
        "contiguous", "contiguous($self, /)\n--\n\nThe tensor itself if row-major, else a copy."),
    NoArguments<&IsContiguousMethod>(
        "is_contiguous", "is_contiguous($self, /)\n--\n\nWhether it is row-major without gaps."),
    FastKeywords<&CopyMethod>(
        "copy",
        "copy($self, /, order='C')\n--\n\n"
        "A writable copy without gaps. order, as in NumPy: 'C' row-major, 'F' column-major,\n"
        "'A' column-major if the tensor is so, 'K' in the tensor's own order."),
    FastKeywords<&ToMethod>(
        "to",
        "to($self, /, device=None, dtype=None, non_blocking=False, copy=False)\n--\n\n"
        "to(dtype, non_blocking=False, copy=False),\n"
        "to(device=None, dtype=None, non_blocking=False, copy=False) or\n"
        "to(other, non_blocking=False, copy=False).\n\n"
        "The elements as another type, on another device, or as other has them: the tensor itself\n"
        "where nothing changes, unless copy=True, else a copy in the same memory order. The host\n"
        "waits for copies from and to its memory, whatever non_blocking says, and not for those\n"
        "within and between devices, which are ordered on their streams.\n\n"
        "Rounds to nearest, ties to even; integers keep their low bits, and floats lose their\n"
        "fraction on the way to integers. ValueError for complex to real numbers."),
    FastKeywords<&AsTypeMethod>(
        "astype",
        "astype($self, /, dtype, order='K', casting='unsafe', copy=True)\n--\n\n"
        "A copy as another type, as in NumPy; TypeError if the rule casting forbids it."),
    NoArguments<&CloneMethod>("clone",
                              "clone($self, /)\n--\n\nA copy in the tensor's memory order."),
    NoArguments<&CpuMethod>("cpu", "cpu($self, /)\n--\n\nto(\"cpu\")"),
    FastKeywords<&CudaMethod>(
        "cuda",
        "cuda($self, /, device=None)\n--\n\n"
        "On a CUDA device, an index or a Device; by default the one it is on, else cuda:0."),
    FastKeywords<&ToDeviceMethod>(
        "to_device",
        "to_device($self, device, /, *, stream=None)\n--\n\n"
        "to(device), as in the array API standard. A copy is ordered by itself; a stream is refused."),
    NoArguments<&ToBytesMethod>("tobytes",
                                "tobytes($self, /)\n--\n\nThe elements, row-major, as bytes."),
    OneArgument<&FillInPlaceMethod>("fill_",
                                    "fill_($self, value, /)\n--\n\n"
                                    "Writes a number to all elements; returns the tensor."),
    NoArguments<&ZeroInPlaceMethod>("zero_", "zero_($self, /)\n--\n\nfill_(0)"),
    FastKeywords<&CopyInPlaceMethod>(
        "copy_",
        "copy_($self, /, src, non_blocking=False)\n--\n\n"
        "Writes the elements of src, which is broadcast and cast; returns the tensor. The copy is\n"
        "done when the call returns."),
    NoArguments<&NumElMethod>("numel", "numel($self, /)\n--\n\nThe number of elements."),
    NoArguments<&DimMethod>("dim", "dim($self, /)\n--\n\nThe number of dimensions."),
    NoArguments<&ElementSizeMethod>("element_size",
                                    "element_size($self, /)\n--\n\nBytes of one element."),
    FastKeywords<&StrideMethod>(
        "stride",
        "stride($self, /, dim=None)\n--\n\nThe strides, or that of one dimension, in elements."),
    NoArguments<&StorageOffsetMethod>(
        "storage_offset",
        "storage_offset($self, /)\n--\n\n"
        "Elements from the start of the memory that views share to element 0."),
    NoArguments<&DetachMethod>("detach",
                               "detach($self, /)\n--\n\nA view that does not require gradients."),
    Fast<&RequiresGradMethod>("requires_grad_",
                              "requires_grad_($self, value=True, /)\n--\n\n"
                              "Sets the mark for autograd; returns the tensor."),
    NoArguments<&DataPointerMethod>(
        "data_ptr",
        "data_ptr($self, /)\n--\n\nThe address of element 0, or the handle "
        "on devices without addresses."),
    NoArguments<&TensorComplex>("__complex__", "__complex__($self, /)\n--\n\ncomplex(self)"),
    OneArgument<&TensorFormat>("__format__",
                               "__format__($self, spec, /)\n--\n\nformat(self, spec)"),
    NoArguments<&ReprHtml>("_repr_html_",
                           "_repr_html_($self, /)\n--\n\nThe values as a notebook shows them."),
    Fast<&ReprPretty>("_repr_pretty_",
                      "_repr_pretty_($self, printer, cycle, /)\n--\n\nrepr(self) for IPython."),
    NoArguments<&TensorDir>("__dir__", "__dir__($self, /)\n--\n\nThe names of attributes."),
    OneArgument<&ReduceEx>("__reduce_ex__",
                           "__reduce_ex__($self, protocol, /)\n--\n\nSupport for pickle."),
    NoArguments<&ShallowCopy>("__copy__",
                              "__copy__($self, /)\n--\n\nSupport for copy.copy: the same memory."),
    OneArgument<&DeepCopyMethod>(
        "__deepcopy__",
        "__deepcopy__($self, memo, /)\n--\n\nSupport for copy.deepcopy: a copy of the memory."),
    kEndOfMethods,
};

}  // namespace dovetail::python
