#include "dovetail/python/module/objects/tensor_object.h"

#include <nanobind/nanobind.h>

#include <new>
#include <utility>

#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Dead objects kept for reuse. The GIL guards the list; without a GIL, and under AddressSanitizer
// (which would miss a use after free), there is none.
#if defined(Py_GIL_DISABLED)
constexpr int kFreeListSize = 0;
#else
constexpr int kFreeListSize = kAddressSanitizer ? 0 : 64;
#endif
TensorObject* free_list[kFreeListSize + 1];
int free_count = 0;

}  // namespace

bool CheckIsTensor(PyObject* object) {
  if (IsTensor(object)) return true;
  PyErr_Format(PyExc_TypeError, "expected a dovetail.Tensor, not %R", Py_TYPE(object));
  return false;
}

TensorObject* NewTensorObject() {
  DrainPendingReleases();
  TensorObject* self;
  if (free_count > 0) {
    self = free_list[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(self), &tensor_type);
  } else {
    self = PyObject_GC_New(TensorObject, &tensor_type);
    if (self == nullptr) return nullptr;
  }
  self->weak_references = nullptr;
  self->requires_grad.store(false);
  self->is_tracked = false;
  new (&self->tensor) Tensor();
  return self;
}

PyObject* WrapTensor(Tensor&& tensor, bool requires_grad) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  self->tensor = std::move(tensor);
  self->requires_grad.store(requires_grad);
  TrackOwner(self);
  return reinterpret_cast<PyObject*>(self);
}

PyObject* WrapTensor(absl::StatusOr<Tensor>&& tensor, bool requires_grad) {
  if (!tensor.ok()) return RaiseStatus(tensor.status());
  return WrapTensor(*std::move(tensor), requires_grad);
}

void DeallocateTensorObject(PyObject* object) {
  TensorObject* self = AsTensorObject(object);
  if (self->is_tracked) {
    PyObject_GC_UnTrack(object);
    if (self->shared_owner != nullptr) LeaveSharedOwner(self->shared_owner);
  }
  if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  if (PyErr_Occurred() == nullptr) {
    DestroyWithGil(self->tensor);
  } else {
    nb::error_scope in_flight;  // a producer's deleter may run Python code
    DestroyWithGil(self->tensor);
  }
  if (free_count < kFreeListSize) {
    free_list[free_count++] = self;
  } else {
    PyObject_GC_Del(self);
  }
}

int TraverseTensorObject(PyObject* object, visitproc visit, void* arg) {
  const TensorObject* const self = AsTensorObject(object);
  if (self->is_tracked) Py_VISIT(self->shared_owner);
  return 0;
}

}  // namespace dovetail::python
