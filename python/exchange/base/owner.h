// Memory that a Python object owns, and its release by a Storage on any thread.
//
//   StorageRef s = Storage::Adopt(data, nbytes, Device::Cpu(), ReleaseObject(owner));
//   StorageRef t = Storage::Adopt(data, nbytes, Device::Cpu(), ReleaseBuffer(held));
//
// Any thread may release a Storage, with or without the GIL. A thread that holds the GIL, or is a
// Python thread and finds the GIL free, releases the owner at once. Any other thread puts the owner
// on a list. The next call with the GIL drains the list, or the main thread when it next runs
// pending calls. So nothing waits for the GIL. Chains of owners over memory of other owners are
// released with bounded recursion. After the interpreter has ended the owner is leaked, because no
// Python object may be touched.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_OWNER_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_OWNER_H_

#include <Python.h>

#include <atomic>
#include <memory>

#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Calls `let_go(context)` as described above: now, later, or never. Any thread.
void LetGo(void (*let_go)(void* context), void* context) noexcept;

// Whether this thread may run Python code: it holds the GIL, or the interpreter lives, so that it
// can wait for the GIL. Any thread.
bool MayCallPython();

// A Storage::Release function that calls the deleter of a managed tensor of DLPack's, at once and
// on any thread. If this thread holds the GIL and a Python error is set, the error is set aside
// meanwhile: the deleter may run Python code, which must see no error and must not clear this one.
template <typename Managed>
void CallDeleterBesideError(void* managed) noexcept;

// Drops one strong reference to `object`. Steals that reference.
Storage::Release ReleaseObject(PyObject* object);

// Names a release function that calls LetGo() and its counterpart for a caller that holds the GIL.
// There is room for one pair (torch_memory.h). Needs the GIL.
void SetForeignRelease(void (*any_thread)(void*), void (*with_gil)(void*));

// Destroys `tensor` for a caller that holds the GIL and has no Python error set. Releases an owner
// at once, without a check of the GIL.
void DestroyWithGil(Tensor& tensor);

// A Python buffer, held until `PyBuffer_Release`.
struct HeldBuffer {
  Py_buffer view;
};
// Releases the buffer exactly once and frees the struct.
Storage::Release ReleaseBuffer(std::unique_ptr<HeldBuffer> buffer);

// The Python object that `storage` holds a reference to; nullptr if there is none.
inline PyObject* OwnerOf(const Storage& storage);

namespace internal_owner {
void LetGoOfObject(void* object);
void LetGoOfBuffer(void* held);
struct Pending;
extern std::atomic<Pending*> pending;
void DrainSlow();
}  // namespace internal_owner

// Releases the owners that threads without the GIL put on the list. Needs the GIL. Costs one load
// when the list is empty.
inline void DrainPendingReleases() {
  if (internal_owner::pending.load(std::memory_order_relaxed) != nullptr) {
    internal_owner::DrainSlow();
  }
}

inline PyObject* OwnerOf(const Storage& storage) {
  const Storage::Release release = storage.release();
  if (release.function == &internal_owner::LetGoOfObject) {
    return static_cast<PyObject*>(release.context);
  }
  if (release.function == &internal_owner::LetGoOfBuffer) {
    return static_cast<const HeldBuffer*>(release.context)->view.obj;
  }
  return nullptr;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_OWNER_H_
