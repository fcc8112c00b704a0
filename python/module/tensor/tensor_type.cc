// The type object of dovetail.Tensor: its slots and its table of methods. What they do stands in
// the files that they come from.

#include <cstddef>

#include "dovetail/interop/dlpack/view.h"
#include "dovetail/python/exchange/borrow/fill.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/tensor/arrow_methods.h"
#include "dovetail/python/module/tensor/attributes.h"
#include "dovetail/python/module/tensor/buffer_methods.h"
#include "dovetail/python/module/tensor/compare.h"
#include "dovetail/python/module/tensor/copies.h"
#include "dovetail/python/module/tensor/dlpack_methods.h"
#include "dovetail/python/module/tensor/exchange_table.h"
#include "dovetail/python/module/tensor/index.h"
#include "dovetail/python/module/tensor/numpy_methods.h"
#include "dovetail/python/module/tensor/tensor_object.h"
#include "dovetail/python/module/tensor/text.h"
#include "dovetail/python/module/tensor/view_methods.h"
#include "dovetail/python/module/values/values.h"

namespace dovetail::python {
namespace {

// Calls a function of one of the package's own modules, which is imported when it is first needed.
template <typename... Args>
PyObject* CallPackage(const char* module, const char* function, Args... args) {
  PyObject* imported = PyImport_ImportModule(module);
  if (imported == nullptr) return nullptr;
  PyObject* callable = PyObject_GetAttrString(imported, function);
  Py_DECREF(imported);
  if (callable == nullptr) return nullptr;
  PyObject* result = PyObject_CallFunctionObjArgs(callable, args..., nullptr);
  Py_DECREF(callable);
  return result;
}

PyObject* ReduceEx(PyObject* self, PyObject* protocol) {
  return CallPackage("dovetail._pickle", "reduce_tensor", self, protocol);
}
PyObject* Iterate(PyObject* self) {
  if (AsTensor(self).rank() == 0) {
    return Raise(PyExc_TypeError, "iteration over a tensor without dimensions");
  }
  return PySeqIter_New(self);
}
PyObject* ShallowCopy(PyObject* self, PyObject*) {
  return WrapTensor(Tensor(AsTensor(self)), AsTensorObject(self)->requires_grad.load());
}

// As PyTorch's tensors hash: a tensor is a key as the object that it is, and its number another.
Py_hash_t HashByIdentity(PyObject* self) { return PyBaseObject_Type.tp_hash(self); }

PyMethodDef methods[] = {
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
        "where nothing changes, unless copy=True, else a copy in the same memory order. The call\n"
        "returns when the copy is done, whatever non_blocking says.\n\n"
        "Rounds to nearest, ties to even; integers keep their low bits, and floats lose their\n"
        "fraction on the way to integers. ValueError for complex to real numbers."),
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
    OneArgument<&ReduceEx>("__reduce_ex__",
                           "__reduce_ex__($self, protocol, /)\n--\n\nSupport for pickle."),
    NoArguments<&ShallowCopy>("__copy__",
                              "__copy__($self, /)\n--\n\nSupport for copy.copy: the same memory."),
    OneArgument<&DeepCopyMethod>(
        "__deepcopy__",
        "__deepcopy__($self, memo, /)\n--\n\nSupport for copy.deepcopy: a copy of the memory."),
    kEndOfMethods,
};

PyNumberMethods as_number;
PySequenceMethods as_sequence;
PyMappingMethods as_mapping;
PyBufferProcs as_buffer;

constexpr char kDoc[] =
    "Typed, shaped access to memory that some framework owns on some device.\n\n"
    "Made by from_dlpack, frombuffer, tensor, empty and others; views and imports share memory.";

// Shares the tensor, as an import of its __dlpack__ would without the capsule.
ExchangeResult ImportOwn(PyObject* x, Tensor* tensor) {
  if (AsTensorObject(x)->requires_grad.load()) return RaiseRequiresGrad(), ExchangeResult::kError;
  *tensor = AsTensor(x);
  return ExchangeResult::kDone;
}

// Nothing is held: a Tensor object never changes its tensor.
ExchangeResult BorrowOwn(PyObject* x, DovetailBorrowed* borrowed) {
  if (AsTensorObject(x)->requires_grad.load()) return RaiseRequiresGrad(), ExchangeResult::kError;
  const Tensor& tensor = AsTensor(x);
  const bool is_padded = tensor.packing() == Packing::kPadded && tensor.dtype().is_sub_byte();
  FillBorrowed(ToDLTensor(tensor.view()),
               (tensor.is_read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
                   (is_padded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0),
               borrowed);
  return ExchangeResult::kDone;
}

}  // namespace

PyTypeObject tensor_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool AddTensorType(PyObject* module) {
  as_number.nb_bool = &Guard<&TensorBool, PyObject*>;
  as_number.nb_int = &Guard<&TensorInt, PyObject*>;
  as_number.nb_float = &Guard<&TensorFloat, PyObject*>;
  as_number.nb_index = &Guard<&TensorIndex, PyObject*>;
  as_sequence.sq_length = &Guard<&TensorLength, PyObject*>;
  as_sequence.sq_item = &Guard<&TensorItem, PyObject*, Py_ssize_t>;
  as_mapping.mp_length = &Guard<&TensorLength, PyObject*>;
  as_mapping.mp_subscript = &Guard<&TensorGetItem, PyObject*, PyObject*>;
  as_mapping.mp_ass_subscript = &Guard<&TensorSetItem, PyObject*, PyObject*, PyObject*>;
  as_buffer.bf_getbuffer = &Guard<&GetTensorBuffer, PyObject*, Py_buffer*, int>;
  as_buffer.bf_releasebuffer = &ReleaseTensorBuffer;

  PyTypeObject& t = tensor_type;
  t.tp_name = "dovetail.Tensor";
  t.tp_doc = kDoc;
  t.tp_basicsize = sizeof(TensorObject);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_SEQUENCE |
               Py_TPFLAGS_HAVE_GC;
  t.tp_dealloc = &DeallocateTensorObject;
  t.tp_traverse = &TraverseTensorObject;
  t.tp_weaklistoffset = offsetof(TensorObject, weak_references);
  t.tp_repr = &Guard<&TensorRepr, PyObject*>;
  t.tp_richcompare = &Guard<&TensorCompare, PyObject*, PyObject*, int>;
  t.tp_hash = &HashByIdentity;
  t.tp_iter = &Guard<&Iterate, PyObject*>;
  t.tp_as_number = &as_number;
  t.tp_as_sequence = &as_sequence;
  t.tp_as_mapping = &as_mapping;
  t.tp_as_buffer = &as_buffer;
  t.tp_methods = methods;
  t.tp_getset = tensor_attributes;
  t.tp_dict = PyDict_New();
  if (t.tp_dict == nullptr || !AddExchangeApi(t.tp_dict) || PyType_Ready(&t) != 0) return false;
  InstallOwnClass(&tensor_type, {&ImportOwn, &BorrowOwn});
  return PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(&t)) == 0;
}

}  // namespace dovetail::python
