// The CPU's allocator: memory aligned to kAllocationAlignment (256) bytes.
//
//   CpuAllocator allocator;
//   absl::StatusOr<void*> data = allocator.Allocate(100, Stream::Default(Device::Cpu()));
//   allocator.Deallocate(*data, 100, nullptr);
//
// Up to 64 KiB it comes from lists that each thread keeps (core/internal/small_blocks.h), from 4
// MiB on from mappings on huge pages, some of which the process keeps (mapped_memory.h), between
// the two from malloc.

#ifndef DOVETAIL_DEVICES_CPU_ALLOCATOR_H_
#define DOVETAIL_DEVICES_CPU_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dovetail/core/allocator.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Threads: any. Streams are trivially ordered on the CPU, so the streams given do not matter. The
// lists and their statistics belong to the process: all CpuAllocators share them.
class CpuAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  bool gives_small_blocks() const override { return true; }
  bool GivesZeros(size_t nbytes) const override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;

  // Gives back all that is kept of small memory, the caller's at once, other threads' when they
  // next let a small tensor go, and of large memory all but `keep` bytes.
  absl::Status Trim(size_t keep) override;

  // peak_bytes is the most that was seen by this function and whenever more than 64 KiB were asked
  // for; small tensors count in it by their blocks, kept ones included.
  AllocatorStats Stats() override;

 private:
  void* TakeLarge(size_t nbytes) noexcept;
  void GiveLarge(void* data, size_t nbytes) noexcept;
  void NotePeak(int64_t bytes);

  std::atomic<int64_t> large_bytes_{0}, large_allocations_{0}, peak_bytes_{0};
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_ALLOCATOR_H_
