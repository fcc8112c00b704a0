// SharedOwner: shows the garbage collector the one reference that a Storage holds to the Python
// object which owns its memory, for all tensor objects over that memory.
//
//   SharedOwner* shared = JoinSharedOwner(storage);   // when a tensor object over it is made
//   Py_VISIT(shared);                                 // in its tp_traverse
//   LeaveSharedOwner(shared);                         // when it dies, before its tensor
//
// Each tensor object has a reference to it, so that the collector counts right, however many there
// are. It shows the owner while only tensor objects share the Storage: whatever else does (an
// export, a copy in progress) keeps the owner alive unseen. What shares a Storage without the GIL
// has begun to with it, or, in builds without a GIL, while the collector did not run.
//
// Needs the GIL, or a thread state without one.

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_SHARED_OWNER_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_SHARED_OWNER_H_

#include <Python.h>

#include "dovetail/core/storage.h"

namespace dovetail::python {

struct SharedOwner {
  PyObject_HEAD const Storage* storage;  // nullptr after the last tensor object has left
  int64_t num_tensors;
};

// Makes its type ready. False with an error set.
bool ReadySharedOwner();

// A new reference to that of `storage`, for a tensor object that has a share in it. nullptr,
// without an error, for lack of memory: then the owner is not shown.
SharedOwner* JoinSharedOwner(const Storage& storage) noexcept;

// Steals the reference. The tensor object still has its share in the Storage.
void LeaveSharedOwner(SharedOwner* shared) noexcept;

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_SHARED_OWNER_H_
