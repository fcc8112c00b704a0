#include "dovetail/python/src/memory.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "dovetail/core/abi/import.h"
#include "dovetail/core/registry.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/error.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kUsed[] = "used_dovetail_backend";

[[noreturn]] void Throw(const absl::Status& status) {
  RaiseStatus(status);
  throw nb::python_error();
}

// The capsule's name tells whether its backend was taken: it can be once.
void RegisterBackend(nb::handle capsule) {
  auto* c =
      static_cast<DovetailBackend*>(PyCapsule_GetPointer(capsule.ptr(), DOVETAIL_BACKEND_CAPSULE));
  if (c == nullptr) {
    PyErr_Clear();
    throw nb::type_error(
        "register_backend() takes a capsule named \"dovetail_backend\" that was not used before");
  }
  absl::StatusOr<std::unique_ptr<DeviceBackend>> backend = ImportBackend(c);
  if (!backend.ok()) Throw(backend.status());
  PyCapsule_SetName(capsule.ptr(), kUsed);
  if (absl::Status s = Registry::Global().Register(*std::move(backend)); !s.ok()) Throw(s);
}

MemoryKind KindOf(const std::string& name) {
  if (name == "device") return MemoryKind::kDevice;
  if (name == "pinned") return MemoryKind::kPinnedHost;
  if (name == "managed") return MemoryKind::kManaged;
  throw nb::value_error("kind must be \"device\", \"pinned\" or \"managed\"");
}

struct Place {
  Place(nb::handle object, const std::string& kind_name) : kind(KindOf(kind_name)) {
    if (!ParseDevice(object.ptr(), &device)) throw nb::python_error();
    absl::StatusOr<DeviceBackend*> found = BackendFor(device);
    if (!found.ok()) Throw(found.status());
    backend = *found;
  }
  Allocator& allocator() const {
    absl::StatusOr<Allocator*> found = backend->GetAllocator(device, kind);
    if (!found.ok()) Throw(found.status());
    return **found;
  }
  Device device;
  MemoryKind kind;
  DeviceBackend* backend;
};

nb::dict StatsDict(const AllocatorStats& stats) {
  nb::dict result;
  result["allocated_bytes"] = stats.allocated_bytes;
  result["peak_bytes"] = stats.peak_bytes;
  result["reserved_bytes"] = stats.reserved_bytes;
  result["allocations"] = stats.allocations;
  result["retries"] = stats.retries;
  return result;
}

}  // namespace

void AddMemory(nb::module_& m) {
  m.def("register_backend", &RegisterBackend, nb::arg("capsule"),
        nb::sig("def register_backend(capsule: object) -> None"),
        "Takes in a backend from another extension module: a capsule named \"dovetail_backend\"\n"
        "around the C struct of dovetail/core/backend_abi.h, which can be used once.\n\n"
        "RuntimeError where a backend serves its devices already, ValueError for a struct of\n"
        "another major version. One that comes with Dovetail makes room where the environment\n"
        "variable DOVETAIL_BACKENDS leaves it out at import, as \"cpu\" does of cpu, cuda, rocm.");
  m.def(
      "allocators",
      [](nb::handle device, const std::string& kind) {
        const Place place(device, kind);
        return place.backend->AllocatorNames(place.device, place.kind);
      },
      nb::arg("device"), nb::arg("kind") = "device",
      nb::sig("def allocators(device: object, kind: str = \"device\") -> list[str]"),
      "The names of the allocators that set_allocator() takes, the default first.\n\n"
      "kind  of memory: \"device\", \"pinned\" or \"managed\"");
  m.def(
      "set_allocator",
      [](nb::handle device, const std::string& name, const std::string& kind) {
        const Place place(device, kind);
        absl::Status s = place.backend->SelectAllocator(place.device, place.kind, name);
        if (!s.ok()) Throw(s);
      },
      nb::arg("device"), nb::arg("name"), nb::arg("kind") = "device",
      nb::sig("def set_allocator(device: object, name: str, kind: str = \"device\") -> None"),
      "Where memory of the device comes from, from now on; memory goes back to where it came\n"
      "from. ValueError, with the names there are, for an unknown one.");
  m.def(
      "allocator_stats",
      [](nb::handle device, const std::string& kind) {
        return StatsDict(Place(device, kind).allocator().Stats());
      },
      nb::arg("device"), nb::arg("kind") = "device",
      nb::sig("def allocator_stats(device: object, kind: str = \"device\") -> dict[str, int]"),
      "What the allocator in use gave out and holds: allocated_bytes, peak_bytes,\n"
      "reserved_bytes (taken from the system), allocations and retries (calls).");
  m.def(
      "trim_memory",
      [](nb::handle device, size_t keep, const std::string& kind) {
        Allocator& allocator = Place(device, kind).allocator();
        absl::Status s;
        {
          nb::gil_scoped_release release;
          s = allocator.Trim(keep);
        }
        if (!s.ok()) Throw(s);
      },
      nb::arg("device"), nb::arg("keep") = 0, nb::arg("kind") = "device",
      nb::sig("def trim_memory(device: object, keep: int = 0, kind: str = \"device\") -> None"),
      "Waits for the device and gives memory that nobody uses back to the system, all but keep\n"
      "bytes. Not while a stream is captured into a graph.");
}

}  // namespace dovetail::python
