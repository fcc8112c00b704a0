// Registry: which backend serves which device type.
//
//   RegisterCpuBackend(Registry::Global());                        // explicit, never at load time
//   absl::StatusOr<DeviceBackend*> b = BackendFor(Device::Cpu());
//
// A fixed array of atomics indexed by device type: finding a backend takes one load and no lock.
// Entries are never removed and the global registry is never destroyed, so pointers stay valid in
// deleters that run while the process exits. A second backend for a type is an error; tests replace
// one for a while with a ScopedBackendOverride.

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

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Registry {
 public:
  // Device types below this number can be served; DLPack 1.3 goes to 18.
  static constexpr int kMaxDeviceTypes = 64;

  // The registry of this shared object. It holds what was registered and nothing else.
  static Registry& Global();

  // Takes the backend for all its device types. AlreadyExists, and nothing is registered, when one
  // of them is served; InvalidArgument for nullptr. Any thread.
  absl::Status Register(std::unique_ptr<DeviceBackend> backend);

  // The backend of a device type, or nullptr. Any thread, no lock.
  DeviceBackend* Find(DeviceType type) const {
    auto i = static_cast<uint32_t>(type);
    return i < kMaxDeviceTypes ? entries_[i].load(std::memory_order_acquire) : nullptr;
  }

  // The allocator of ordinary host memory, which a new tensor there needs no more than. Null where
  // no backend serves the CPU, and where that lets programs choose among several. Any thread, no
  // lock.
  Allocator* host_allocator() const { return host_allocator_.load(std::memory_order_acquire); }

  // All backends, in the order of their registration.
  std::vector<DeviceBackend*> Backends() const;

 private:
  friend class ScopedBackendOverride;

  // After the CPU's backend has changed.
  void FindHostAllocator();

  std::array<std::atomic<DeviceBackend*>, kMaxDeviceTypes> entries_ = {};
  std::atomic<Allocator*> host_allocator_ = nullptr;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<DeviceBackend>> owned_ ABSL_GUARDED_BY(mutex_);
};

// Whether the global registry's host allocator gives small blocks. (No member, so that asking costs
// no call.)
extern std::atomic<bool> host_gives_small_blocks;

// The backend of the global registry for a device type, if it has devices here; nullptr otherwise.
// Without one, memory passes through: a vendor's backend whose driver is absent knows no more about
// foreign memory than none does. Opens the driver, on its first call.
DeviceBackend* FindServing(DeviceType type);

// The backend of the global registry for `device`. NotFound, with what to do, when there is none.
absl::StatusOr<DeviceBackend*> BackendFor(Device device);

// For tests: puts `backend` in the place of whatever serves its device types, and restores that.
// Nothing else may use those device types while it comes and goes.
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
