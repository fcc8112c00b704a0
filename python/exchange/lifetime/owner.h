// Memory that a Python object owns: how a Storage lets go of it, on any thread.
//
//   StorageRef s = Storage::Adopt(data, nbytes, Device::Cpu(), ReleaseObject(owner));
//   StorageRef t = Storage::Adopt(data, nbytes, Device::Cpu(), ReleaseBuffer(held));
//
// A Storage may be released by any thread, with or without the GIL. Where this thread holds it, or
// is a Python thread that finds it free, the owner is let go at once. Otherwise it is put on a list
// that the next call with the GIL drains, or the main thread at its next turn: nothing waits for
// the GIL. Owners over memory of owners, however many, are let go of without nesting as deeply.
// After the interpreter's end the owner is leaked, since nothing of it can be touched any
// more.

#ifndef DOVETAIL_PYTHON_EXCHANGE_LIFETIME_OWNER_H_
#define DOVETAIL_PYTHON_EXCHANGE_LIFETIME_OWNER_H_

#include <Python.h>

#include <atomic>
#include <memory>

#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Calls `let_go(context)` as described above: now, soon, or never. For a Storage's release, and any
// thread.
void LetGo(void (*let_go)(void* context), void* context) noexcept;

// Drops one strong reference to `object`, which is taken over.
Storage::Release ReleaseObject(PyObject* object);

// Names a release function that calls LetGo() and its counterpart for a caller that holds the GIL.
// There is room for one pair (torch_storage.h). Needs the GIL.
void SetForeignRelease(void (*any_thread)(void*), void (*with_gil)(void*));

// Destroys `tensor` for a caller who has the GIL: an owner is let go of at once, without asking who
// has it.
void DestroyWithGil(Tensor& tensor);

// A Python buffer, held until `PyBuffer_Release`.
struct HeldBuffer {
  Py_buffer view;
};
// Releases the buffer, exactly once, and frees the struct. `buffer` is taken over.
Storage::Release ReleaseBuffer(std::unique_ptr<HeldBuffer> buffer);

// The Python object whose reference `storage` holds; nullptr where it holds none.
inline PyObject* OwnerOf(const Storage& storage);

namespace internal_owner {
void LetGoOfObject(void* object);
void LetGoOfBuffer(void* held);
struct Pending;
extern std::atomic<Pending*> pending;
void DrainSlow();
}  // namespace internal_owner

// Lets go of what threads without the GIL left behind. Needs the GIL; one load when there is
// nothing.
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

#endif  // DOVETAIL_PYTHON_EXCHANGE_LIFETIME_OWNER_H_
