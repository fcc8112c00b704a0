// SlotPool: memory for many allocations that other processes can open, in as few files as possible.
//
//   absl::StatusOr<std::shared_ptr<SlotPool>> pool = SlotPool::Create({.nbytes = 1 << 30});
//   absl::StatusOr<SlotHold> slot = (*pool)->Allocate(4096, {.timeout = absl::Seconds(1)});
//
// A pool has one segment at first (segment.h). If its limit allows, the process that made it adds
// further ones, of the size of the first or of the allocation. Other processes open slots by their
// names without a SlotPool; with one (Open, Attach) they allocate, too, in the segments that there
// are.
//
// SlotPool::OfProcess() is the pool of this process, for memory of MemoryKind::kShared. It grows as
// far as /dev/shm allows. A forked child has its own. Any thread.

#ifndef DOVETAIL_CORE_IPC_SLOT_POOL_H_
#define DOVETAIL_CORE_IPC_SLOT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/std_mutex.h"
#include "dovetail/core/ipc/pool_options.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_folder.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

class SlotPool {
 public:
  // Fails as Segment::Create does; InvalidArgument for 0 bytes or an anonymous pool that grows.
  static absl::StatusOr<std::shared_ptr<SlotPool>> Create(const PoolOptions& options);
  // The pool of another process, by the name of its first segment or a descriptor.
  static absl::StatusOr<std::shared_ptr<SlotPool>> Open(SegmentName name);
  static absl::StatusOr<std::shared_ptr<SlotPool>> Attach(int file);
  ~SlotPool();
  static SlotPool& OfProcess();
  // This process's pool of descriptions of memory on devices (SegmentKind::kDeviceBlocks).
  static SlotPool& OfDevices();

  // ResourceExhausted, with the processes that hold the memory, if there is no room. Cancelled if
  // the wait was interrupted (core/internal/threads/interruption.h).
  absl::StatusOr<SlotHold> Allocate(size_t nbytes, const AllocateOptions& options = {});

  // Whether the memory was allocated here, or by another process in the same pool.
  bool Contains(const Segment& segment);
  SegmentName name();
  bool is_anonymous();
  // Of the first segment. It stays the pool's; a forked child may have another number for it.
  int file();

  // Of all segments. Also frees what ended processes held.
  absl::StatusOr<PoolStats> Stats();
  int segment_count();
  size_t reserved_bytes();  // that have pages
  size_t most_bytes() const { return most_bytes_; }
  // Frees what ended processes held. Returns the number of bytes.
  absl::StatusOr<uint64_t> Reclaim();
  // Gives memory of OfProcess() back to the system: removes segments of which nothing is held,
  // until the others have at most `keep` bytes.
  static void TrimOfProcess(size_t keep);

 private:
  using Segments = std::vector<std::shared_ptr<Segment>>;

  SlotPool(size_t segment_bytes, size_t most_bytes)
      : segment_bytes_(segment_bytes), most_bytes_(most_bytes) {}
  static SlotPool* ForProcess(size_t segment_bytes, SegmentKind kind);
  static absl::StatusOr<std::shared_ptr<SlotPool>> Of(std::shared_ptr<Segment> first);
  Segments GetSegments();
  SlotHold TryAllocate(size_t nbytes);
  absl::StatusOr<SlotHold> TryHarder(size_t nbytes);
  absl::StatusOr<SlotHold> Grow(size_t nbytes);
  absl::Status AddFollower(const std::shared_ptr<Segment>& segment);
  void FindFollowers();
  bool HasFound(const Segment& segment);
  absl::StatusOr<SlotHold> AllocateIsolated(size_t nbytes);
  size_t LargestPossible();
  uint32_t FreedCount();
  void WaitForFreed(uint32_t seen, absl::Duration until);  // on SteadyNow()
  absl::Status FullError(size_t nbytes, const absl::Status& reason);

  const size_t segment_bytes_;
  const size_t most_bytes_;
  SegmentKind kind_ = SegmentKind::kHostMemory;
  bool is_of_process_ = false;
  std::vector<std::weak_ptr<Segment>> isolated_ ABSL_GUARDED_BY(StateMutex());
  Segments segments_ ABSL_GUARDED_BY(StateMutex());
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SLOT_POOL_H_
