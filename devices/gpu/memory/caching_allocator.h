// CachingAllocator: keeps memory that came back and gives it out again, over any other allocator.
//
//   CachingAllocator caching(context, base);        // both live as long as the backend
//
// Sizes are rounded up to classes, eight to each doubling (at most 12.5 % more than asked for).
// What one lasting stream used is kept for that stream, and given out to it again without waiting;
// what several used, or others, is given out to any stream once their work is done. Out of memory
// it gives all it keeps back to `base` and tries once more; Trim gives back all but `keep` bytes.
// Any thread. Streams that memory is kept for live as long as it is.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_CACHING_ALLOCATOR_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_CACHING_ALLOCATOR_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/memory/allocators.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The size of the class that `nbytes` (> 0) falls into: at least that, and a multiple of 512.
size_t SizeClass(size_t nbytes);

class CachingAllocator final : public GpuAllocator {
 public:
  CachingAllocator(GpuContext& context, GpuAllocator& base, std::string where)
      : GpuAllocator(context, base.device(), std::move(where)), base_(base) {}

  bool ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept override;
  bool ReclaimAfter(void* data, size_t nbytes, const Uses::EventList& events) noexcept override;
  void Reclaim(void* data, size_t nbytes) noexcept override;

 protected:
  absl::StatusOr<void*> Obtain(size_t nbytes, const Stream& stream) override;
  absl::Status Reduce(size_t keep) override;

 private:
  // The stream that may use the memory at once; nullopt: any.
  struct Block {
    void* data;
    size_t size;
    std::optional<Stream> stream;
  };
  // The handle of the stream, and 0 or 1 for whether there is one; the size.
  struct Key {
    bool any;
    int device;
    NativeStream stream;
    size_t size;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.any, k.device, k.stream, k.size);
    }
  };

  static Key KeyOf(const std::optional<Stream>& stream, size_t size);
  bool Keep(Block block) noexcept;
  void* TakeKept(size_t size, const Stream& stream);
  void GiveToBase(Block block);

  GpuAllocator& base_;
  absl::Mutex mutex_;
  absl::flat_hash_map<Key, std::vector<Block>> kept_ ABSL_GUARDED_BY(mutex_);
  size_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_CACHING_ALLOCATOR_H_
