// The CPU's memory that other processes can open: segments in /dev/shm (core/ipc/segment.h).
//
//   SharedAllocator allocator;                                    // MemoryKind::kShared of the CPU
//   absl::StatusOr<void*> data = allocator.Allocate(100, stream);
//   absl::StatusOr<MemoryShare> share = ShareHostMemory(*data, 100);
//   absl::StatusOr<OpenedMemory> there = OpenHostMemory(share->name);    // in another process
//
// Each allocation is a file of its own, as long as it is not given back. Who has opened it keeps
// the memory; who opens it later gets an error. Memory is known by its address, so that what other
// libraries made of it can be shared as well. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_SHARED_MEMORY_H_
#define DOVETAIL_DEVICES_CPU_SHARED_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Memory is all 0 when it is given out: its pages are new.
class SharedAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
  AllocatorStats Stats() override;

 private:
  std::atomic<int64_t> allocated_ = 0, peak_ = 0, allocations_ = 0;
};

// As DeviceBackend's ShareMemory and OpenMemory.
absl::StatusOr<MemoryShare> ShareHostMemory(void* data, size_t nbytes);
absl::StatusOr<OpenedMemory> OpenHostMemory(std::string_view name);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_SHARED_MEMORY_H_
