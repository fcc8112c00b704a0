// The allocators of a GPU's memory kinds, by name:
//
//   async     device memory from the vendor's stream-ordered pool (the default where there is one)
//   direct    device memory straight from the driver, whose free waits for the device
//   pinned    host memory that every device of the vendor accesses directly
//   managed   memory that migrates between host and device
//
//   MakeAllocator(context, table, AllocatorSource::kAsync, 0)
//
// All return memory through the Releaser: Deallocate calls no vendor function. Allocate drains the
// Releaser first. Out of memory, it waits for all memory that is being released, has every
// allocator of the device return its unused memory to the system, and tries once more.
// FailedPrecondition while the stream is being captured into a graph. Trim reaches every allocator
// of the device, too. It waits for the device and must not be called while a stream is being
// captured. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATORS_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATORS_H_

#include <atomic>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/context.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class AllocatorTable;

enum class AllocatorSource { kAsync, kDirect, kPinned, kManaged };

// The common part of all allocators: checks, statistics, and the second attempt.
class GpuAllocator : public ReleasedAllocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) final;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept final;
  absl::Status Trim(size_t keep) final;
  AllocatorStats Stats() override;

  // For an allocator on top of this one: Obtain without checks, statistics and a second attempt.
  absl::StatusOr<void*> ObtainFor(size_t nbytes, const Stream& stream) {
    return Obtain(nbytes, stream);
  }
  // Returns unused memory to the system, or to the base, except for `keep` bytes. For the table,
  // which has all allocators of a device do so.
  virtual absl::Status Reduce(size_t /*keep*/) { return absl::OkStatus(); }
  // The allocator that this one is on top of; nullptr if there is none.
  virtual GpuAllocator* base() { return nullptr; }

  // Whether the host accesses the memory directly: pinned and managed memory. The host does so at
  // once, not in stream order, so that new memory has no pending work on any stream.
  virtual bool is_host_accessible() const = 0;

  GpuContext& context() { return context_; }
  AllocatorTable& table() { return table_; }
  int device() const { return device_; }

 protected:
  // `where` names the memory in error messages: "cuda:0", "pinned host memory".
  GpuAllocator(GpuContext& context, AllocatorTable& table, int device, std::string where)
      : context_(context), table_(table), device_(device), where_(std::move(where)) {}

  // After ResourceExhausted, Allocate calls AllocatorTable::Reduce and tries once more.
  virtual absl::StatusOr<void*> Obtain(size_t nbytes, const Stream& stream) = 0;
  // Bytes obtained from the system.
  virtual int64_t ReservedBytes() { return reserved_.load(std::memory_order_relaxed); }

  // Whether a free on the stream would be one of a graph's: it is captured, or nothing is known of
  // it. The allocator's device is current.
  bool MayBeCaptured(const Stream& stream) noexcept;

  void AddReserved(int64_t nbytes) { reserved_.fetch_add(nbytes, std::memory_order_relaxed); }

 private:
  absl::Status OutOfMemory(size_t nbytes, const absl::Status& why);

  GpuContext& context_;
  AllocatorTable& table_;
  const int device_;
  const std::string where_;
  std::atomic<int64_t> allocated_ = 0, peak_ = 0, reserved_ = 0, allocations_ = 0, retries_ = 0;
};

// The device must exist and have memory of that kind. `table` outlives the allocator.
std::unique_ptr<GpuAllocator> MakeAllocator(GpuContext& context, AllocatorTable& table,
                                            AllocatorSource source, int device);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_ALLOCATORS_H_
