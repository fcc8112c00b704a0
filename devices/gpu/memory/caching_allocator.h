// CachingAllocator: caches freed memory of another allocator.
//
//   CachingAllocator caching(base, "cuda:0");              // `base` outlives the allocator
//
// Sizes are rounded up to classes, eight per doubling (at most 12.5 % more than asked for). A block
// that only one lasting stream used is cached for that stream, which reuses it without waiting. Any
// other block is cached for all streams once its work is done, and so is each block that the host
// accesses directly. Out of memory, all cached blocks return to `base`; a Trim returns all but
// `keep` bytes. Any thread. A cached block keeps its stream alive.

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

// The size class of `nbytes` (> 0): at least `nbytes`, and a multiple of 512.
size_t SizeClass(size_t nbytes);

class CachingAllocator final : public GpuAllocator {
 public:
  CachingAllocator(GpuAllocator& base, std::string where)
      : GpuAllocator(base.context(), base.table(), base.device(), std::move(where)), base_(base) {}

  bool is_host_accessible() const override { return base_.is_host_accessible(); }
  bool ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept override;
  bool ReclaimAfter(void* data, size_t nbytes, const Uses::EventList& events) noexcept override;
  void Reclaim(void* data, size_t nbytes) noexcept override;
  absl::Status Reduce(size_t keep) override;
  GpuAllocator* base() override { return &base_; }

 protected:
  absl::StatusOr<void*> Obtain(size_t nbytes, const Stream& stream) override;

 private:
  // `stream` may use the block without waiting; nullopt: any stream may.
  struct Block {
    void* data;
    size_t size;
    std::optional<Stream> stream;
  };
  // `any`: the block is for any stream; `device` and `stream` mean nothing then.
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
