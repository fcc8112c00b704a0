// AllocatorTable: the allocators of each device by memory kind and name, and which one is selected.
//
//   absl::StatusOr<Allocator*> a = table.Get(Device::Cuda(0), MemoryKind::kDevice);
//   absl::Status s = table.Select(Device::Cuda(0), MemoryKind::kDevice, "caching(direct)");
//
// Memory that one allocator holds unused is missing to the others of the device. Reduce has all of
// them return it, selected or not.
//
// An allocator is made at its first use and lives as long as the table. Memory returns to the
// allocator that it came from, whichever is selected then. Any thread; Get takes no lock after the
// first use.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATOR_TABLE_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATOR_TABLE_H_

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/devices/gpu/memory/allocators.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class AllocatorTable {
 public:
  explicit AllocatorTable(GpuContext& context) : context_(context) {}

  // As DeviceBackend's functions GetAllocator, AllocatorNames, SelectAllocator.
  absl::StatusOr<Allocator*> Get(Device device, MemoryKind kind);
  std::vector<std::string> Names(Device device, MemoryKind kind);
  absl::Status Select(Device device, MemoryKind kind, std::string_view name);

  // Has every allocator of the device of `keeper` return its unused memory to the system, `keeper`
  // except for `keep` bytes. Waits for the memory that is being released, and may wait for the
  // device. FailedPrecondition while a stream is being captured.
  absl::Status Reduce(const GpuAllocator& keeper, size_t keep);

  // The memory kind in effect: memory of the vendor's pinned device type is pinned, whatever `kind`
  // is.
  MemoryKind KindOf(Device device, MemoryKind kind) const;

 private:
  static constexpr int kMostDevices = 64;
  static constexpr int kKinds = 4;

  absl::Status CheckNoCapture();
  GpuAllocator* Find(int device, MemoryKind kind, std::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  GpuContext& context_;
  std::array<std::atomic<Allocator*>, kMostDevices * kKinds> current_ = {};
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<GpuAllocator>> made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATOR_TABLE_H_
