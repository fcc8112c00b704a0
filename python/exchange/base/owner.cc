#include "dovetail/python/exchange/base/owner.h"

#include <nanobind/nanobind.h>

#include <new>
#include <utility>

#include "dlpack/dlpack.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace internal_owner {

// One owner on the list that waits for a thread with the GIL.
struct Pending {
  Pending* next;
  void (*let_go)(void* context);
  void* context;
};

std::atomic<Pending*> pending{nullptr};

// Owners may lie over memory of other owners, in chains of any length. Calls of LetGoNow() nest up
// to this depth. Deeper owners wait for the outermost call, which keeps the C stack bounded.
constexpr int kMaxDepth = 64;
#ifdef Py_GIL_DISABLED
#define PER_THREAD thread_local
#else
#define PER_THREAD  // guarded by the GIL
#endif
PER_THREAD constinit int depth = 0;
PER_THREAD constinit Pending* nested = nullptr;  // the owners that wait for the outermost call
#undef PER_THREAD

// Releases at once, or in the outermost call if calls have nested deeply. Needs the GIL.
void LetGoNow(void (*let_go)(void*), void* context) {
  if (depth == kMaxDepth) [[unlikely]] {
    if (auto* entry = new (std::nothrow) Pending{nested, let_go, context}) {
      nested = entry;
      return;
    }
  }
  ++depth;
  let_go(context);
  while (depth == 1 && nested != nullptr) [[unlikely]] {
    const Pending next = *nested;
    delete std::exchange(nested, next.next);
    next.let_go(next.context);
  }
  --depth;
}

void DrainSlow() {
  Pending* list = pending.exchange(nullptr, std::memory_order_acquire);
  if (list == nullptr) return;
  nb::error_scope in_flight;  // a release may run Python code
  while (list != nullptr) {
    Pending* next = list->next;
    LetGoNow(list->let_go, list->context);
    delete list;
    list = next;
  }
}

}  // namespace internal_owner

namespace {

struct ForeignRelease {
  GilGuarded<void (*)(void*)> any_thread{nullptr};
  GilGuarded<void (*)(void*)> with_gil{nullptr};
};
constinit ForeignRelease foreign_release;

using internal_dlpack::CallDeleter;
using internal_owner::LetGoNow;
using internal_owner::LetGoOfBuffer;
using internal_owner::LetGoOfObject;
using internal_owner::Pending;
using internal_owner::pending;

int DrainFromMainThread(void*) {
  DrainPendingReleases();
  return 0;
}

bool InterpreterIsAlive() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

// Whether this thread holds the GIL.
bool HoldsGil() {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked() != nullptr;
#elif PY_VERSION_HEX >= 0x030c0000
  return _PyThreadState_UncheckedGet() != nullptr;  // the state is this thread's
#else
  // The state is that of whichever thread has the GIL.
  PyThreadState* const own = PyGILState_GetThisThreadState();
  return own != nullptr && _PyThreadState_UncheckedGet() == own;
#endif
}

void DropObject(void* object) { Py_DECREF(static_cast<PyObject*>(object)); }

void DropBuffer(void* context) {
  auto* held = static_cast<HeldBuffer*>(context);
  PyBuffer_Release(&held->view);
  delete held;
}

// The counterpart of `release` for a caller that holds the GIL; `release` itself if there is none.
void (*WithGil(void (*release)(void*)))(void*) {
  if (release == &LetGoOfObject) return &DropObject;
  if (release == foreign_release.any_thread.load()) return foreign_release.with_gil.load();
  if (release == &CallDeleterBesideError<DLManagedTensorVersioned>) {
    return &CallDeleter<DLManagedTensorVersioned>;
  }
  if (release == &CallDeleterBesideError<DLManagedTensor>) return &CallDeleter<DLManagedTensor>;
  if (release == &LetGoOfBuffer) return &DropBuffer;
  return release;
}

}  // namespace

namespace internal_owner {
void LetGoOfObject(void* object) { LetGo(&DropObject, object); }
void LetGoOfBuffer(void* held) { LetGo(&DropBuffer, held); }
}  // namespace internal_owner

// While the interpreter shuts down, its own thread still holds the GIL and may release owners.
// Other threads may not.
void LetGo(void (*let_go)(void*), void* context) noexcept {
  if (!Py_IsInitialized()) return;
  if (HoldsGil()) {
    HangAtThreadEnd([&] { LetGoNow(let_go, context); });
    return;
  }
  // Not even a GIL that looks free is taken: another thread may be quicker, and may wait for a lock
  // that the caller holds.
  if (!InterpreterIsAlive()) return;
  auto* entry = new (std::nothrow) Pending{nullptr, let_go, context};
  if (entry == nullptr) return;
  entry->next = pending.load(std::memory_order_relaxed);
  while (!pending.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  // Asks the main thread to drain the list, in case no other call does. One request is enough.
  if (entry->next == nullptr) Py_AddPendingCall(&DrainFromMainThread, nullptr);
}

bool MayCallPython() { return Py_IsInitialized() && (HoldsGil() || InterpreterIsAlive()); }

template <typename Managed>
void CallDeleterBesideError(void* managed) noexcept {
  if (!Py_IsInitialized() || !HoldsGil() || PyErr_Occurred() == nullptr) [[likely]]
    return CallDeleter<Managed>(managed);
  nb::error_scope in_flight;
  CallDeleter<Managed>(managed);
}
template void CallDeleterBesideError<DLManagedTensor>(void* managed) noexcept;
template void CallDeleterBesideError<DLManagedTensorVersioned>(void* managed) noexcept;

void SetForeignRelease(void (*any_thread)(void*), void (*with_gil)(void*)) {
  foreign_release.with_gil.store(with_gil);
  foreign_release.any_thread.store(any_thread);  // last: WithGil() reads it first
}

Storage::Release ReleaseObject(PyObject* object) { return {&LetGoOfObject, object}; }

void DestroyWithGil(Tensor& tensor) {
  Storage* const storage = tensor.storage().get();
  const Storage::Release owner = storage != nullptr
                                     ? internal_storage::StorageAccess::TakeRelease(*storage)
                                     : Storage::Release{};
  tensor.~Tensor();
  if (owner.function == nullptr) return;
  HangAtThreadEnd([&] { LetGoNow(WithGil(owner.function), owner.context); });
}

Storage::Release ReleaseBuffer(std::unique_ptr<HeldBuffer> buffer) {
  return {&LetGoOfBuffer, buffer.release()};
}

}  // namespace dovetail::python
