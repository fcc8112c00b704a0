#include "dovetail/python/module/functions/functions.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dovetail/core/abi/import.h"
#include "dovetail/core/abi/memory_source.h"
#include "dovetail/core/registry.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/python_sources.h"
#include "dovetail/python/module/objects/device_class.h"

namespace dovetail::python {
namespace {

constexpr char kUsed[] = "used_dovetail_backend";
constexpr char kUsedAllocator[] = "used_dovetail_allocator";

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
    absl::StatusOr<Allocator*> found = Registry::Shared().GetAllocator(device, kind);
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

namespace {

// The capsule's name tells whether its allocator was taken, as that of a backend does.
std::unique_ptr<MemorySource> TakeAllocatorCapsule(PyObject* capsule) {
  const nanobind::ft_object_guard guard(capsule);
  auto* c =
      static_cast<DovetailAllocator*>(PyCapsule_GetPointer(capsule, DOVETAIL_ALLOCATOR_CAPSULE));
  if (c == nullptr) {
    PyErr_Clear();
    return Raise(PyExc_TypeError,
                 "set_allocator() takes a capsule named \"dovetail_allocator\" that was not used "
                 "before");
  }
  absl::StatusOr<std::unique_ptr<MemorySource>> source = ImportMemorySource(c);
  if (!source.ok()) return RaiseStatus(source.status());
  PyCapsule_SetName(capsule, kUsedAllocator);
  return *std::move(source);
}

// Of a tuple (allocate, deallocate, owner), as dovetail._allocators makes it.
std::unique_ptr<MemorySource> SourceOf(PyObject* functions) {
  PyObject *allocate, *deallocate, *owner;
  if (!PyArg_ParseTuple(functions, "OOO", &allocate, &deallocate, &owner)) return nullptr;
  if (!PyLong_Check(allocate)) return MakePythonSource(allocate, deallocate);
  const size_t addresses[] = {PyLong_AsSize_t(allocate), PyLong_AsSize_t(deallocate)};
  if (PyErr_Occurred() != nullptr) return nullptr;
  return MakeCSource(addresses[0], addresses[1], owner);
}

absl::Status SelectByName(const Place& place, std::string_view name) {
  absl::Status s = place.backend->SelectAllocator(place.device, place.kind, name);
  return s.ok() ? Registry::Shared().SetAllocator(place.device, place.kind, nullptr) : s;
}

absl::Status SelectDefault(const Place& place) {
  const std::vector<std::string> names = place.backend->AllocatorNames(place.device, place.kind);
  if (!names.empty()) return SelectByName(place, names.front());
  return Registry::Shared().SetAllocator(place.device, place.kind, nullptr);
}

}  // namespace

PyObject* SetAllocatorFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  Place place;
  if (nargs != 3) return Raise(PyExc_TypeError, "_set_allocator() takes three arguments");
  PyObject* const allocator = args[1];
  if (!place.Parse(args[0], args[2])) return nullptr;
  if (allocator == Py_None) return Done(SelectDefault(place));
  if (PyUnicode_Check(allocator)) {
    const char* name = PyUnicode_AsUTF8(allocator);
    return name != nullptr ? Done(SelectByName(place, name)) : nullptr;
  }
  // Before a capsule is taken: the place must have such memory.
  if (place.FindAllocator() == nullptr) return nullptr;
  std::unique_ptr<MemorySource> source =
      PyCapsule_CheckExact(allocator) ? TakeAllocatorCapsule(allocator) : SourceOf(allocator);
  if (source == nullptr) return nullptr;
  return Done(Registry::Shared().SetMemorySource(place.device, place.kind, std::move(source)));
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
  const absl::Status trimmed =
      WithoutGilIf(true, [&] { return allocator->Trim(static_cast<size_t>(keep)); });
  DrainPendingReleases();  // what a program's own allocator in Python got back meanwhile
  return Done(trimmed);
}

}  // namespace dovetail::python
