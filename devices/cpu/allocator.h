// The CPU's allocator: memory aligned to kAllocationAlignment (256) bytes.
//
//   CpuAllocator allocator;
//   absl::StatusOr<void*> data = allocator.Allocate(100, Stream::Default(Device::Cpu()));
//   allocator.Deallocate(*data, 100, nullptr);
//
// Three sources, by size:
//   up to 64 KiB      free lists of the thread (core/internal/blocks/small_blocks.h)
//   4 MiB and more    mappings on huge pages; the process caches some (mapped_memory.h)
//   in between        malloc

#ifndef DOVETAIL_DEVICES_CPU_ALLOCATOR_H_
#define DOVETAIL_DEVICES_CPU_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dovetail/core/allocator.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Thread-safe. Streams are ignored: CPU work is done when its call returns. The free lists and
// their statistics belong to the process, so all CpuAllocators share them.
class CpuAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  bool gives_small_blocks() const override { return true; }
  bool GivesZeros(size_t nbytes) const override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;

  // Returns cached memory to the system. Small blocks: this thread's now, another thread's when it
  // next frees a small tensor. Large mappings: all but `keep` bytes.
  absl::Status Trim(size_t keep) override;

  // peak_bytes is sampled, by this call and by each allocation of more than 64 KiB. It counts small
  // tensors by their blocks, cached blocks included.
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
