
#include <nanobind/nanobind.h>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/views/views.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/slots.h"
#include "dovetail/python/module/values/assign.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Up to four take no allocation.
using IndexItems = absl::InlinedVector<IndexItem, 4>;

bool RefuseKey(PyObject* key) {
  PyErr_Format(PyExc_TypeError,
               "a tensor can't be indexed by %.200s: only basic indexing is supported, by ints, "
               "slices, Ellipsis (...), None, and tuples of these",
               Py_TYPE(key)->tp_name);
  return false;
}

bool AddInt(PyObject* key, IndexItems* items) {
  const int64_t index = PyLong_AsLongLong(key);
  if (index == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
    PyErr_Format(PyExc_IndexError, "the index %R is out of range", key);
    return false;
  }
  items->push_back(IndexItem::At(index));
  return true;
}

bool AddSlice(PyObject* key, IndexItems* items) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) return false;
  items->push_back(IndexItem::Range({.start = start, .stop = stop, .step = step}));
  return true;
}

// Whether an object that is an index is also an array with dimensions or of bools, such as
// torch.tensor(True): that would be advanced indexing. False with an error set where asking raised
// one.
bool IsAdvanced(PyObject* key, bool* advanced) {
  nb::object ndim, dtype;
  if (!FindAttribute(key, "ndim", &ndim)) return false;
  *advanced = ndim.is_valid() && !(PyLong_Check(ndim.ptr()) && PyObject_Not(ndim.ptr()) == 1);
  // (NumPy's scalars of bools are no index.)
  if (*advanced || !ndim.is_valid() || numpy_scalar.IsBaseOf(Py_TYPE(key))) return true;
  if (!FindAttribute(key, "dtype", &dtype)) return false;
  DType type;
  if (!dtype.is_valid()) return true;
  if (!ParseDType(dtype.ptr(), &type)) return ForgetException();
  *advanced = type == kBool;
  return true;
}

// An object with __index__, such as NumPy's integers and 0-D integer tensors.
bool AddForeign(PyObject* key, IndexItems* items) {
  bool advanced;
  if (!PyIndex_Check(key)) return RefuseKey(key);
  if (!IsAdvanced(key, &advanced)) return false;
  if (advanced) return RefuseKey(key);
  nb::object index = nb::steal(HangAtThreadEnd([&] { return PyNumber_Index(key); }));
  if (index.is_valid()) return AddInt(index.ptr(), items);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  return RefuseKey(key);
}

bool AddItem(PyObject* key, IndexItems* items) {
  if (PySlice_Check(key)) return AddSlice(key, items);
  if (PyBool_Check(key)) return RefuseKey(key);
  if (PyLong_Check(key)) return AddInt(key, items);
  if (key == Py_Ellipsis) return items->push_back(IndexItem::Ellipsis()), true;
  if (key == Py_None) return items->push_back(IndexItem::NewAxis()), true;
  return AddForeign(key, items);
}

// Ints, slices, Ellipsis, None, or a tuple of them; TypeError otherwise, IndexError for more than
// one Ellipsis. Core checks whether the indices are in range.
bool ParseIndexKey(PyObject* key, IndexItems* items) {
  if (!PyTuple_Check(key)) return AddItem(key, items);
  int ellipses = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    PyObject* item = PyTuple_GET_ITEM(key, i);
    if (!AddItem(item, items)) return false;
    ellipses += item == Py_Ellipsis;
  }
  if (ellipses > 1) PyErr_SetString(PyExc_IndexError, "an index has at most one ellipsis (...)");
  return ellipses <= 1;
}

PyObject* View(PyObject* self, absl::Span<const IndexItem> items) {
  const TensorObject* object = AsTensorObject(self);
  return WrapTensor(object->tensor.Index(items), object->requires_grad.load());
}

}  // namespace

PyObject* TensorGetItem(PyObject* self, PyObject* key) {
  IndexItems items;
  if (!ParseIndexKey(key, &items)) return nullptr;
  return View(self, items);
}

int TensorSetItem(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_TypeError, "elements of a tensor can't be deleted");
    return -1;
  }
  // A copy, since converting the value may run any Python code.
  const Tensor tensor = AsTensor(self);
  if (!CheckWritable(tensor)) return -1;
  IndexItems items;
  if (!ParseIndexKey(key, &items)) return -1;
  LayoutView view;
  if (absl::Status s = Index(tensor.layout(), items, &view); !s.ok()) return RaiseStatus(s), -1;
  return Assign(tensor, view, value) ? 0 : -1;
}

Py_ssize_t TensorLength(PyObject* self) {
  const Tensor& tensor = AsTensor(self);
  if (tensor.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "a 0-D tensor has no len(); item() gives its number");
    return -1;
  }
  return static_cast<Py_ssize_t>(tensor.layout().shape(0));
}

PyObject* TensorItem(PyObject* self, Py_ssize_t index) {
  const Tensor& tensor = AsTensor(self);
  if (tensor.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "a 0-D tensor can't be iterated; item() gives its number");
    return nullptr;
  }
  if (index < 0 || index >= tensor.layout().shape(0)) {
    PyErr_SetString(PyExc_IndexError, "index out of range");
    return nullptr;
  }
  const IndexItem item = IndexItem::At(index);
  return View(self, {&item, 1});
}

}  // namespace dovetail::python
