// The CPU's allocator: ordinary memory, aligned to kAllocationAlignment (256) bytes.

#ifndef DOVETAIL_DEVICES_CPU_ALLOCATOR_H_
#define DOVETAIL_DEVICES_CPU_ALLOCATOR_H_

#include "dovetail/core/allocator.h"

namespace dovetail::inline DOVETAIL_ABI {

// Threads: any. Streams are trivially ordered on the CPU, so the streams given do not matter.
class CpuAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
};

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_ALLOCATOR_H_
