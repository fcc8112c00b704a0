#include "dovetail/python/module/objects/shared_owner.h"

#include <new>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/python/exchange/base/owner.h"

namespace dovetail::python {
namespace {

int Traverse(PyObject* object, visitproc visit, void* arg) {
  const auto* const shared = reinterpret_cast<SharedOwner*>(object);
  const Storage* const storage = shared->storage;
  if (storage != nullptr && storage->use_count() == shared->num_tensors) {
    Py_VISIT(OwnerOf(*storage));
  }
  return 0;
}

void Deallocate(PyObject* object) {
  PyObject_GC_UnTrack(object);
  PyObject_GC_Del(object);
}

PyTypeObject shared_owner_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

// The SharedOwner of each Storage that has one. No Python code runs under the mutex, which is for
// builds without the GIL.
struct Registry {
  absl::Mutex mutex;
  absl::flat_hash_map<const Storage*, SharedOwner*> by_storage ABSL_GUARDED_BY(mutex);

  static Registry& Get() {
    static Registry& registry = *new Registry;  // never destroyed
    return registry;
  }

  // nullptr if there is none. `made` is taken in if it is given and there is none.
  SharedOwner* Join(const Storage& storage, SharedOwner* made) {
    const absl::MutexLock lock(&mutex);
    SharedOwner* shared;
    if (made != nullptr) {
      shared = by_storage.try_emplace(&storage, made).first->second;
    } else {
      const auto found = by_storage.find(&storage);
      if (found == by_storage.end()) return nullptr;
      shared = found->second;
    }
    ++shared->num_tensors;
    if (shared != made) Py_INCREF(shared);
    return shared;
  }
  void Leave(SharedOwner* shared) {
    const absl::MutexLock lock(&mutex);
    if (--shared->num_tensors > 0) return;
    by_storage.erase(shared->storage);
    shared->storage = nullptr;
  }
};

}  // namespace

bool ReadySharedOwner() {
  PyTypeObject& t = shared_owner_type;
  t.tp_name = "dovetail._core._SharedOwner";
  t.tp_basicsize = sizeof(SharedOwner);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC;
  t.tp_dealloc = &Deallocate;
  t.tp_traverse = &Traverse;
  return PyType_Ready(&t) == 0;
}

SharedOwner* JoinSharedOwner(const Storage& storage) noexcept {
  Registry& registry = Registry::Get();
  if (SharedOwner* const known = registry.Join(storage, nullptr)) return known;
  SharedOwner* const made = PyObject_GC_New(SharedOwner, &shared_owner_type);
  if (made == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  made->storage = &storage;
  made->num_tensors = 0;
  PyObject_GC_Track(made);
  SharedOwner* joined = nullptr;
  try {
    joined = registry.Join(storage, made);
  } catch (const std::bad_alloc&) {
  }
  if (joined != made) Py_DECREF(made);  // another thread was faster, or there is no memory
  return joined;
}

void LeaveSharedOwner(SharedOwner* shared) noexcept {
  Registry::Get().Leave(shared);
  Py_DECREF(shared);
}

}  // namespace dovetail::python
