// dovetail.Tensor: the Python object, with the C++ Tensor inline.
//
//   PyObject* object = WrapTensor(std::move(tensor));     // a new reference
//   if (IsTensor(object)) Use(AsTensor(object));
//
// A hand-written type, because every exchange makes a new tensor object: allocation from a free
// list, no __dict__, weak references. The other classes of the module are nanobind's. All functions
// need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_TENSOR_OBJECT_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_TENSOR_OBJECT_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/module/objects/shared_owner.h"

namespace dovetail::python {

struct TensorObject {
  PyObject_HEAD PyObject* weak_references;
  // Autograd's mark, for callers that set it. Such a tensor is not exported; detach() clears it.
  GilGuarded<bool> requires_grad;
  bool is_tracked;            // by the garbage collector
  SharedOwner* shared_owner;  // of a tracked object; nullptr for lack of memory
  Tensor tensor;
};

// dovetail.Tensor itself; its slots are filled in by tensor_type.cc.
extern PyTypeObject tensor_type;

// Tracks a finished object by the garbage collector if its memory has an owner that can be in a
// reference cycle. The caller that fills in the result of NewTensorObject() calls this. A
// memoryview counts as no such owner: CPython crashes when it clears an exported one.
inline void TrackOwner(TensorObject* object);

// Makes the type ready and adds it to `module`. False with an error set.
bool AddTensorType(PyObject* module);

// An object whose tensor is null, for a caller that fills it in; nullptr with an error set.
TensorObject* NewTensorObject();

// A new object around `tensor`; nullptr with an error set, and `tensor` dropped, for lack of
// memory.
PyObject* WrapTensor(Tensor&& tensor, bool requires_grad = false);

// The same for a result: a status is raised (error.h).
PyObject* WrapTensor(absl::StatusOr<Tensor>&& tensor, bool requires_grad = false);

inline bool IsTensor(PyObject* object) { return Py_TYPE(object) == &tensor_type; }
// The same for an argument; false with a TypeError set.
bool CheckIsTensor(PyObject* object);
inline TensorObject* AsTensorObject(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object);
}
inline Tensor& AsTensor(PyObject* object) { return AsTensorObject(object)->tensor; }

// tp_dealloc and tp_traverse of the type. There is no tp_clear: memory never changes its owner, so
// every cycle has another object that can be cleared.
void DeallocateTensorObject(PyObject* object);
int TraverseTensorObject(PyObject* object, visitproc visit, void* arg);

inline void TrackOwner(TensorObject* object) {
  const Storage* const storage = object->tensor.storage().get();
  PyObject* const owner = storage != nullptr ? OwnerOf(*storage) : nullptr;
  if (owner != nullptr && PyType_IS_GC(Py_TYPE(owner)) && !PyMemoryView_Check(owner)) {
    object->shared_owner = JoinSharedOwner(*storage);
    object->is_tracked = true;
    PyObject_GC_Track(object);
  }
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_TENSOR_OBJECT_H_
