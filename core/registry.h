// Registry: which backend serves which device type, and where new memory comes from.
//
//   RegisterCpuBackend(Registry::Global());                        // explicit, never at load time
//   absl::StatusOr<DeviceBackend*> b = BackendFor(Device::Cpu());
//   Registry::Global().SetAllocator(Device::Cuda(0), MemoryKind::kDevice, &my_allocator);
//
// A fixed array of atomics indexed by device type: finding a backend takes one load and no lock.
// Entries are never removed and the global registry is never destroyed, so pointers stay valid in
// deleters that run during process exit. A second backend for a type is an error; tests replace a
// backend temporarily with a ScopedBackendOverride.

#ifndef DOVETAIL_CORE_REGISTRY_H_
#define DOVETAIL_CORE_REGISTRY_H_

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/linkage/one_copy.h"
#include "dovetail/core/memory_source.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_registry {
class SourceAllocator;
struct SetAllocator;
}  // namespace internal_registry

class Registry {
 public:
  // Device types below this number can be served; DLPack 1.3 uses numbers up to 18.
  static constexpr int kMaxDeviceTypes = 64;

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The registry of this shared object. It holds only what was registered explicitly.
  [[gnu::always_inline]] static Registry& Global() {
    CheckOneCopy();
    return Shared();
  }
  // The same, for Dovetail's own code: without a check of who calls.
  static Registry& Shared();

  // Registers the backend for all its device types. AlreadyExists if one of them is already served,
  // InvalidArgument for nullptr and types from kMaxDeviceTypes on; nothing is registered then. Any
  // thread.
  absl::Status Register(std::unique_ptr<DeviceBackend> backend);

  // The backend of a device type, or nullptr. Any thread, no lock.
  DeviceBackend* Find(DeviceType type) const {
    auto i = static_cast<uint32_t>(type);
    return i < kMaxDeviceTypes ? entries_[i].load(std::memory_order_acquire) : nullptr;
  }

  // From now on, new memory of `kind` on `device` comes from `allocator`; nullptr restores the
  // backend's own. Memory that exists returns to the allocator that it came from. `allocator` must
  // live as long as its memory, and as any thread may still be allocating; it obeys all that
  // Allocator says, also after a fork. Memory that belongs to no device, as "cuda_host" does,
  // counts as pinned or managed memory of the vendor's first device. NotFound if no backend serves
  // the device, InvalidArgument if it has no memory of that kind. Any thread.
  absl::Status SetAllocator(Device device, MemoryKind kind, Allocator* allocator);
  // The same for a source of memory. The source is destroyed once another allocator, or nullptr,
  // was set for this memory and all that it gave is back; at once on an error.
  absl::Status SetMemorySource(Device device, MemoryKind kind,
                               std::unique_ptr<MemorySource> source);
  // Where new memory comes from: the allocator that was set, else the backend's. The same errors.
  // Any thread, no lock.
  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) const;
  // The allocator that was set, or nullptr. One load where none has ever been set.
  Allocator* FindSetAllocator(Device device, MemoryKind kind) const {
    return set_.load(std::memory_order_acquire) == nullptr ? nullptr : FindSet(device, kind);
  }

  // The allocator of ordinary host memory: a shortcut past the backend for new tensors. nullptr if
  // no backend serves the CPU, or if that backend lets programs choose among several allocators and
  // SetAllocator has not chosen another. Any thread, no lock.
  Allocator* host_allocator() const { return host_allocator_.load(std::memory_order_acquire); }

  // All backends, in the order of their registration.
  std::vector<DeviceBackend*> Backends() const;

 private:
  friend class ScopedBackendOverride;

  using SetEntry = internal_registry::SetAllocator;

  // Updates host_allocator_. Called after the CPU's backend or allocator has changed.
  void FindHostAllocator();
  absl::StatusOr<DeviceBackend*> FindBackend(Device device) const;
  Allocator* FindSet(Device device, MemoryKind kind) const;
  SetEntry* FindEntry(Device device, MemoryKind kind) const;
  void Set(Device device, MemoryKind kind, Allocator* allocator,
           std::unique_ptr<internal_registry::SourceAllocator> source);

  std::array<std::atomic<DeviceBackend*>, kMaxDeviceTypes> entries_ = {};
  std::atomic<Allocator*> host_allocator_ = nullptr;
  // A list that only grows: one entry for each kind of memory on a device that was ever set.
  std::atomic<SetEntry*> set_ = nullptr;
  mutable absl::Mutex mutex_;
  // Kept for good: their memory may come back, or a thread may be about to call them. The backends,
  // which return memory to them, end first.
  std::vector<std::unique_ptr<internal_registry::SourceAllocator>> sources_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<DeviceBackend>> owned_ ABSL_GUARDED_BY(mutex_);
};

// Whether the global registry's host allocator gives small blocks. It is not a member, so that
// reading it costs no call.
extern std::atomic<bool> host_gives_small_blocks;

// The backend of the global registry for a device type, if that backend has devices; else nullptr.
// Memory of a type without such a backend passes through untouched: a backend without its driver
// knows nothing about foreign memory. The first call opens the driver.
DeviceBackend* FindServing(DeviceType type);

// The backend of the global registry for `device`. NotFound, with the remedy, if there is none.
absl::StatusOr<DeviceBackend*> BackendFor(Device device);

// Waits on the host until an event has completed, or the work of a stream so far is done, whichever
// backend it belongs to. NotFound if no backend serves its device.
absl::Status AwaitOnHost(const Event& event);
absl::Status AwaitOnHost(const Stream& stream);
// Whether an event of any backend has completed. The same error.
absl::StatusOr<bool> HasHappened(const Event& event);

// For tests: makes `backend` serve its device types, and restores the previous backends at the end.
// Allocators that are set for these types are set aside meanwhile. Nothing else may use those
// device types during construction and destruction.
class ScopedBackendOverride {
 public:
  explicit ScopedBackendOverride(std::unique_ptr<DeviceBackend> backend,
                                 Registry& registry = Registry::Global());
  ~ScopedBackendOverride();
  ScopedBackendOverride(const ScopedBackendOverride&) = delete;
  ScopedBackendOverride& operator=(const ScopedBackendOverride&) = delete;

 private:
  struct SetAside {
    internal_registry::SetAllocator* entry;
    Allocator* allocator;
    internal_registry::SourceAllocator* source;
  };

  Registry& registry_;
  std::unique_ptr<DeviceBackend> backend_;
  std::vector<DeviceBackend*> previous_;  // in the order of backend_->device_types()
  std::vector<SetAside> set_aside_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_REGISTRY_H_
