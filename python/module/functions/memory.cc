#include "dovetail/python/module/functions/functions.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dovetail/core/abi/import.h"
#include "dovetail/core/registry.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"

namespace dovetail::python {
namespace {

constexpr char kUsed[] = "used_dovetail_backend";

// Where functions that take device= and kind= look.
struct Place {
  // False with an error set.
  bool Parse(PyObject* device_argument, PyObject* kind_argument) {
    if (!ParseDevice(device_argument, &device) || !ParseKind(kind_argument)) return false;
    absl::StatusOr<DeviceBackend*> found = BackendFor(device);
    if (!found.ok()) return RaiseStatus(found.status()), false;
    backend = *found;
    return true;
  }
  // nullptr with an error set.
  Allocator* FindAllocator() const {
    absl::StatusOr<Allocator*> found = backend->GetAllocator(device, kind);
    return found.ok() ? *found : RaiseStatus(found.status());
  }

  Device device;
  MemoryKind kind = MemoryKind::kDevice;
  DeviceBackend* backend = nullptr;

 private:
  bool ParseKind(PyObject* argument) {
    if (!IsGiven(argument)) return true;
    constexpr std::pair<std::string_view, MemoryKind> kKinds[] = {
        {"device", MemoryKind::kDevice},
        {"pinned", MemoryKind::kPinnedHost},
        {"managed", MemoryKind::kManaged},
        {"shared", MemoryKind::kShared},
    };
    const char* text = PyUnicode_Check(argument) ? PyUnicode_AsUTF8(argument) : nullptr;
    for (const auto& [name, value] : kKinds) {
      if (text != nullptr && name == text) {
        kind = value;
        return true;
      }
    }
    PyErr_Format(PyExc_ValueError, "kind must be 'device', 'pinned', 'managed' or 'shared', not %R",
                 argument);
    return false;
  }
};

PyObject* Done(const absl::Status& status) {
  if (!status.ok()) return RaiseStatus(status);
  Py_RETURN_NONE;
}

}  // namespace

// The capsule's name tells whether its backend was taken: it can be once.
PyObject* RegisterBackendFunction(PyObject*, PyObject* capsule) {
  // Another thread may be taking the same capsule. (Does nothing in builds with the GIL.)
  const nanobind::ft_object_guard guard(capsule);
  auto* c = static_cast<DovetailBackend*>(PyCapsule_GetPointer(capsule, DOVETAIL_BACKEND_CAPSULE));
  if (c == nullptr) {
    PyErr_Clear();
    return Raise(PyExc_TypeError,
                 "register_backend() takes a capsule named \"dovetail_backend\" that was not used "
                 "before");
  }
  absl::StatusOr<std::unique_ptr<DeviceBackend>> backend = ImportBackend(c);
  if (!backend.ok()) return RaiseStatus(backend.status());
  PyCapsule_SetName(capsule, kUsed);
  return Done(Registry::Shared().Register(*std::move(backend)));
}

PyObject* AllocatorsFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  static constinit const Signature kSignature("allocators", 2, 1, {"device", "kind"});
  PyObject* v[2];
  Place place;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !place.Parse(v[0], v[1])) return nullptr;
  const std::vector<std::string> names = place.backend->AllocatorNames(place.device, place.kind);
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(names.size()));
  for (size_t i = 0; list != nullptr && i < names.size(); ++i) {
    PyObject* name = PyUnicode_FromString(names[i].c_str());
    if (name == nullptr) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), name);
    }
  }
  return list;
}

PyObject* SetAllocatorFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames) {
  static constinit const Signature kSignature("set_allocator", 3, 2, {"device", "name", "kind"});
  PyObject* v[3];
  Place place;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !place.Parse(v[0], v[2])) return nullptr;
  const char* name = PyUnicode_AsUTF8(v[1]);
  if (name == nullptr) return nullptr;
  return Done(place.backend->SelectAllocator(place.device, place.kind, name));
}

PyObject* AllocatorStatsFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  static constinit const Signature kSignature("allocator_stats", 2, 1, {"device", "kind"});
  PyObject* v[2];
  Place place;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !place.Parse(v[0], v[1])) return nullptr;
  Allocator* allocator = place.FindAllocator();
  if (allocator == nullptr) return nullptr;
  const AllocatorStats s = allocator->Stats();
  return Py_BuildValue(
      "{s:L,s:L,s:L,s:L,s:L}", "allocated_bytes", static_cast<long long>(s.allocated_bytes),
      "peak_bytes", static_cast<long long>(s.peak_bytes), "reserved_bytes",
      static_cast<long long>(s.reserved_bytes), "allocations",
      static_cast<long long>(s.allocations), "retries", static_cast<long long>(s.retries));
}

PyObject* TrimMemoryFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  static constinit const Signature kSignature("trim_memory", 3, 1, {"device", "keep", "kind"});
  PyObject* v[3];
  Place place;
  int64_t keep = 0;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !place.Parse(v[0], v[2]) ||
      (IsGiven(v[1]) && !ParseInt(v[1], &keep))) {
    return nullptr;
  }
  if (keep < 0) return Raise(PyExc_ValueError, "keep is a number of bytes, and not negative");
  Allocator* allocator = place.FindAllocator();
  if (allocator == nullptr) return nullptr;
  return Done(WithoutGilIf(true, [&] { return allocator->Trim(static_cast<size_t>(keep)); }));
}

}  // namespace dovetail::python
