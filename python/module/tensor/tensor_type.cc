// The type object of dovetail.Tensor: its slots. What they do stands in the files that they come
// from.

#include <cstddef>

#include "dovetail/interop/dlpack/view.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/fill.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/slots.h"
#include "dovetail/python/module/values/values.h"

namespace dovetail::python {
namespace {

PyObject* Iterate(PyObject* self) {
  if (AsTensor(self).rank() == 0) {
    return Raise(PyExc_TypeError, "iteration over a tensor without dimensions");
  }
  return PySeqIter_New(self);
}

// As PyTorch's tensors hash: a tensor is a key as the object that it is, and its number another.
Py_hash_t HashByIdentity(PyObject* self) { return PyBaseObject_Type.tp_hash(self); }

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
  const bool is_padded = tensor.packing() == Packing::kPadded;
  FillTrusted(ToDLTensor(tensor.view()),
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
  RefuseArithmetic(&as_number);
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
  t.tp_methods = tensor_methods;
  t.tp_getset = tensor_attributes;
  t.tp_dict = PyDict_New();
  if (t.tp_dict == nullptr || !SetTensorClass(&t) || !AddExchangeApi(t.tp_dict) ||
      PyType_Ready(&t) != 0 || !ReadySharedOwner() || !AddMissingMethods(&t)) {
    return false;
  }
  InstallOwnClass(&tensor_type, {&ImportOwn, &BorrowOwn});
  return PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(&t)) == 0;
}

}  // namespace dovetail::python
