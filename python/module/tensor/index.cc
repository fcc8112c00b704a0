#include "dovetail/python/module/tensor/slots.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/index_key.h"
#include "dovetail/python/module/values/assign.h"

namespace dovetail::python {
namespace {

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
