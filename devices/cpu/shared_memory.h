// CPU memory that other processes can open: segments in /dev/shm (core/ipc/segment.h).
//
//   SharedAllocator allocator;                                    // MemoryKind::kShared of the CPU
//   absl::StatusOr<void*> data = allocator.Allocate(100, stream);
//   absl::StatusOr<MemoryShare> share = ShareHostMemory(*data, 100);
//   absl::StatusOr<OpenedMemory> there = OpenHostMemory(share->name);    // in another process
//
// Each allocation is a file until it is deallocated. A process that opened it before then keeps the
// memory; opening it later fails. Segments are found by address, so that tensors which other
// libraries made of such memory can be shared too. Any thread.

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

// New memory is all zeros.
class SharedAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
  AllocatorStats Stats() override;

 private:
  std::atomic<int64_t> allocated_ = 0, peak_ = 0, allocations_ = 0;
};

// ShareMemory and OpenMemory of DeviceBackend.
absl::StatusOr<MemoryShare> ShareHostMemory(void* data, size_t nbytes);
absl::StatusOr<OpenedMemory> OpenHostMemory(std::string_view name);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_SHARED_MEMORY_H_
