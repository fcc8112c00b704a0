// Registry: which backend serves which device type.
//
//   RegisterCpuBackend(Registry::Global());                        // explicit, never at load time
//   absl::StatusOr<DeviceBackend*> b = BackendFor(Device::Cpu());
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

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Registry {
 public:
  // Device types below this number can be served; DLPack 1.3 uses numbers up to 18.
  static constexpr int kMaxDeviceTypes = 64;

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

  // The allocator of ordinary host memory: a shortcut past the backend for new tensors. nullptr if
  // no backend serves the CPU, or if that backend lets programs choose among several allocators.
  // Any thread, no lock.
  Allocator* host_allocator() const { return host_allocator_.load(std::memory_order_acquire); }

  // All backends, in the order of their registration.
  std::vector<DeviceBackend*> Backends() const;

 private:
  friend class ScopedBackendOverride;

  // Updates host_allocator_. Called after the CPU's backend has changed.
  void FindHostAllocator();

  std::array<std::atomic<DeviceBackend*>, kMaxDeviceTypes> entries_ = {};
  std::atomic<Allocator*> host_allocator_ = nullptr;
  mutable absl::Mutex mutex_;
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
// Nothing else may use those device types during construction and destruction.
class ScopedBackendOverride {
 public:
  explicit ScopedBackendOverride(std::unique_ptr<DeviceBackend> backend,
                                 Registry& registry = Registry::Global());
  ~ScopedBackendOverride();
  ScopedBackendOverride(const ScopedBackendOverride&) = delete;
  ScopedBackendOverride& operator=(const ScopedBackendOverride&) = delete;

 private:
  Registry& registry_;
  std::unique_ptr<DeviceBackend> backend_;
  std::vector<DeviceBackend*> previous_;  // in the order of backend_->device_types()
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_REGISTRY_H_
