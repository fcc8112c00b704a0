// UserAllocator: an Allocator over a program's own memory (core/memory_source.h) on a GPU.
//
//   absl::StatusOr<std::unique_ptr<Allocator>> a =
//       MakeUserAllocator(context, table, Device::Cuda(0), MemoryKind::kDevice, source);
//
// The source gets memory back with no lock held and with the memory's device current:
//   only the stream of its allocation used it     at once, in the order of that stream
//   anything else used it, or the host can        once all work on it is done
// It gets the stream of the allocation where that is lasting, else the default stream. A source
// whose free ignores the stream, such as PyTorch's, may therefore take the order of the allocation.
//
// Out of memory, the program's memory that is being released goes back first, and Dovetail's own
// allocators of the device return what they hold unused; then the source is asked once more. Trim
// does the same. What the source holds unused is its own business. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_USER_ALLOCATOR_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_USER_ALLOCATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/memory_source.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/memory/allocators.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class UserAllocator final : public GpuAllocator {
 public:
  UserAllocator(GpuContext& context, AllocatorTable& table, int device, std::string where,
                bool is_host_accessible, MemorySource& source)
      : GpuAllocator(context, table, device, std::move(where)),
        is_host_accessible_(is_host_accessible),
        source_(source) {}

  bool is_host_accessible() const override { return is_host_accessible_; }
  bool MayReclaimInOrder(void* data, const Stream& stream) noexcept override;
  // The source must not be called here, where the Releaser has its lock.
  bool ReclaimInOrder(void*, size_t, const Stream&) noexcept override { return false; }
  bool ReclaimAfter(void*, size_t, const Uses::EventList&) noexcept override { return false; }
  void Reclaim(void* data, size_t nbytes) noexcept override;

 protected:
  absl::StatusOr<void*> Obtain(size_t nbytes, const Stream& stream) override;

 private:
  struct Block {
    std::optional<Stream> stream;  // of the allocation, if lasting
    bool in_order = false;         // the work on `stream` may still be pending
  };

  const bool is_host_accessible_;
  MemorySource& source_;
  absl::Mutex mutex_;
  std::unordered_map<void*, Block> blocks_ ABSL_GUARDED_BY(mutex_);
};

// The errors of AllocatorTable::Get. `source` and `table` outlive the allocator.
absl::StatusOr<std::unique_ptr<Allocator>> MakeUserAllocator(GpuContext& context,
                                                             AllocatorTable& table, Device device,
                                                             MemoryKind kind, MemorySource& source);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_USER_ALLOCATOR_H_
