#include "dovetail/python/src/owner.h"

#include <nanobind/nanobind.h>

#include <new>

namespace nb = nanobind;

namespace dovetail::python {
namespace internal_owner {

// One owner that waits for a thread with the GIL.
struct Pending {
  Pending* next;
  void (*let_go)(void* context);
  void* context;
};

std::atomic<Pending*> pending{nullptr};

void DrainSlow() {
  Pending* list = pending.exchange(nullptr, std::memory_order_acquire);
  if (list == nullptr) return;
  nb::error_scope in_flight;  // letting go may run Python code
  while (list != nullptr) {
    Pending* next = list->next;
    list->let_go(list->context);
    delete list;
    list = next;
  }
}

}  // namespace internal_owner

namespace {

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

// A Python thread that let the GIL go for a while, as PyTorch does when it frees a tensor, may take
// it back without waiting if no other thread has it. Up to 3.11 the interpreter tells; from 3.12 on
// it does not, and the pending list serves.
bool CanTakeFreeGil() {
#if PY_VERSION_HEX < 0x030c0000
  return _PyThreadState_UncheckedGet() == nullptr && PyGILState_GetThisThreadState() != nullptr;
#else
  return false;
#endif
}

// While the interpreter shuts down its own thread still holds the GIL and may let go; others may
// not.
void LetGo(void (*let_go)(void*), void* context) noexcept {
  if (!Py_IsInitialized()) return;
  if (PyGILState_Check()) {
    let_go(context);
    return;
  }
  if (!InterpreterIsAlive()) return;
  if (CanTakeFreeGil()) {
    const PyGILState_STATE state = PyGILState_Ensure();
    let_go(context);
    PyGILState_Release(state);
    return;
  }
  auto* entry = new (std::nothrow) Pending{nullptr, let_go, context};
  if (entry == nullptr) return;
  entry->next = pending.load(std::memory_order_relaxed);
  while (!pending.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  // The main thread drains it soon, even if no call of ours comes. One request is enough.
  if (entry->next == nullptr) Py_AddPendingCall(&DrainFromMainThread, nullptr);
}

void DropObject(void* object) { Py_DECREF(static_cast<PyObject*>(object)); }

void DropBuffer(void* context) {
  auto* held = static_cast<HeldBuffer*>(context);
  PyBuffer_Release(&held->view);
  delete held;
}

}  // namespace

Storage::Release ReleaseObject(PyObject* object) {
  return {[](void* context) { LetGo(&DropObject, context); }, object};
}

Storage::Release ReleaseBuffer(std::unique_ptr<HeldBuffer> buffer) {
  return {[](void* context) { LetGo(&DropBuffer, context); }, buffer.release()};
}

}  // namespace dovetail::python
