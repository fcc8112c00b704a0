// SharedBlocks: shares GPU allocations with other processes by the vendor's IPC handles. One per
// backend; it implements DeviceBackend's ShareMemory (Share) and OpenMemory (Open).
//
// Owner: for each block that it shares, the owner takes a slot of shared memory
// (core/ipc/segment.h). The slot has the vendor's handles of the allocation and of an event and
// names the GPU, and whoever has the block open holds the slot. Only the slot's name is sent to
// other processes, so that no vendor call sees bytes that a stranger made up. A Hold among the
// memory's uses (stream/events.h) keeps the block from its allocator or lender until no living
// process has it open.
//
// Borrower: a process opens each allocation once and counts its uses. Opened memory is closed
// through the Releaser, after the borrower's own work on it, and then reported to the owner. In the
// owner's process, where drivers refuse to open their own handles, Open returns the memory itself.
//
// Order: Share records an event after the current work; later work on opened memory waits for it.
// If the driver has no events for other processes, Share waits for the work on the host.
//
// Any thread. In a forked child every call is FailedPrecondition.

#ifndef DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_
#define DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/slot_pool.h"
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

  // An allocation of another process: the device it is opened on, its owner and address there, and
  // the vendor's handle. Allocations that share a block of the driver may have the same handle.
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
  std::shared_ptr<Block> FindBlock(const Uses* uses, const void* base) const;
  absl::StatusOr<int> FindDevice(const Description& description);
  absl::StatusOr<void*> Map(const Key& key);
  void Unmap(const Key& key) noexcept;
  bool IsMapped(const void* base);

  GpuContext& context_;
  absl::Mutex mutex_;
  std::map<std::string, std::weak_ptr<Block>, std::less<>> mine_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, Mapped> mapped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_MEMORY_SHARED_BLOCKS_H_
