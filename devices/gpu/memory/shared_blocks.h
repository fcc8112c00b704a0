// SharedBlocks: allocations of a GPU that several processes use, by the vendor's IPC handles. One
// per backend; ShareMemory and OpenMemory of DeviceBackend are its Share and Open.
//
// The owner makes a segment (core/ipc/segment.h) for each block of memory that it shares: it holds
// the vendor's handles of the allocation and of an event, says on which GPU they are, and counts
// who has it open. What goes to others is the segment's name alone: no vendor call sees a byte that
// a stranger made up. A Hold among the memory's uses (events.h) keeps the block from its allocator,
// or lender, until no living process has it open; then the segment goes.
//
// The borrower opens each allocation once, however often it is shared, and counts; what it opened
// goes back through the Releaser, after its own work on the memory, and is told to the owner then.
// In the owner's process, where the drivers refuse to open a handle, the memory is taken as it is.
//
// Order: Share records an event after the work so far, which later work on what Open gives waits
// for. Where the driver has no such events the host waits for the work in Share.
//
// Any thread. In a forked child every call is FailedPrecondition.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/devices/gpu/context.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class SharedBlocks {
 public:
  explicit SharedBlocks(GpuContext& context) : context_(context) {}
  SharedBlocks(const SharedBlocks&) = delete;
  SharedBlocks& operator=(const SharedBlocks&) = delete;

  absl::StatusOr<MemoryShare> Share(Device device, const void* data, size_t nbytes,
                                    const Uses* uses, const Stream& stream);
  absl::StatusOr<OpenedMemory> Open(std::string_view name);

 private:
  struct Description;
  class Block;
  struct Lent;

  // An allocation of another process: the device that it is open on here, where it is there (two
  // that share a block of the driver's may have one handle), and the vendor's handle.
  struct Key {
    int device = 0;
    ipc::ProcessToken owner = {};
    uint64_t base = 0;
    std::array<unsigned char, kIpcHandleSize> handle = {};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Mapped {
    void* data;
    int count;
  };

  absl::StatusOr<PointerInfo> FindAllocation(Device device, const void* data, size_t nbytes);
  absl::StatusOr<std::shared_ptr<Block>> MakeBlock(const PointerInfo& info, const Stream& stream);
  static std::shared_ptr<Block> FindBlock(const Uses* uses, const void* base);
  absl::StatusOr<int> FindDevice(const Description& description);
  absl::StatusOr<void*> Map(const Key& key);
  void Unmap(const Key& key) noexcept;
  bool IsMapped(const void* base);

  GpuContext& context_;
  absl::Mutex mutex_;
  std::map<ipc::SegmentName, std::weak_ptr<Block>> mine_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, Mapped> mapped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_
