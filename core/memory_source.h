// MemorySource: a program's own memory for new tensors, such as the pool of another library.
//
//   class MyPool final : public MemorySource { ... };
//   absl::Status s = Registry::Global().SetMemorySource(Device::Cuda(0), MemoryKind::kDevice,
//                                                       std::make_unique<MyPool>());
//
// A source only gives and takes memory. The device's backend makes an Allocator of it, which adds
// the release in stream order, the second attempt when memory runs out, and statistics. Programs
// that want to do all of that themselves implement Allocator. docs/devices/own_memory.md says what
// a source can rely on. In C it is core/abi/allocator_abi.h.

#ifndef DOVETAIL_CORE_MEMORY_SOURCE_H_
#define DOVETAIL_CORE_MEMORY_SOURCE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Any thread calls the functions, concurrently, and holds no lock of Dovetail's. They must not
// throw. On a GPU, the memory's device is current on the thread.
class MemorySource {
 public:
  // Called once the source is no longer chosen and all of its memory is back; on any thread.
  virtual ~MemorySource() = default;

  // At least `nbytes` > 0 bytes, aligned to kAllocationAlignment (256) or, on devices without
  // addresses, a handle. The memory is on the device of `stream`.
  // Work on `stream` may use the memory at once, and so may the host if it accesses this kind of
  // memory directly. ResourceExhausted if there is not enough memory: Dovetail's own allocators
  // then return their unused memory, and the function is called once more. Other errors are the
  // allocation's.
  virtual absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) = 0;

  // Takes back memory that Allocate returned for `nbytes`. `stream` is the one of Allocate if it is
  // lasting, else the device's default stream. All other work on the memory is done; pending is at
  // most work on `stream`, and that only if `stream` is the one of Allocate. Must not block.
  virtual void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept = 0;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_MEMORY_SOURCE_H_
