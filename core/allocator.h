// Allocator: where a backend's memory comes from. One per memory kind and device.
//
//   absl::StatusOr<Allocator*> a = backend->GetAllocator(Device::Cpu(), MemoryKind::kDevice);
//   absl::StatusOr<void*> p = (*a)->Allocate(1024, Stream::Default(Device::Cpu()));
//   (*a)->Deallocate(*p, 1024, nullptr);
//
// Programs rarely call one: Storage::Allocate does, and gives the memory back.

#ifndef DOVETAIL_CORE_ALLOCATOR_H_
#define DOVETAIL_CORE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The alignment, in bytes, of all memory that Dovetail allocates (DLPack's nominal alignment).
inline constexpr size_t kAllocationAlignment = 256;

enum class MemoryKind {
  kDevice,      // the device's own memory; on the CPU, ordinary memory
  kPinnedHost,  // host memory that the device reads directly
  kManaged,     // memory that migrates between host and device
  kShared,      // the device's own memory, of a sort that other processes can open (interop/ipc)
};

// What an allocator gave out and holds, in bytes and calls, since the process began.
struct AllocatorStats {
  int64_t allocated_bytes = 0;  // in use by the program, as it asked for them
  int64_t peak_bytes = 0;       // the most that were
  int64_t reserved_bytes =
      0;                    // taken from the system: in use, kept for reuse or not yet given back
  int64_t allocations = 0;  // calls of Allocate that gave memory
  int64_t retries = 0;      // of those, how many freed unused memory first
};

// Raises a peak to `now`, where that is more. Any thread.
inline void RaisePeak(std::atomic<int64_t>& peak, int64_t now) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

class Allocator {
 public:
  virtual ~Allocator() = default;

  // At least `nbytes` bytes, aligned to kAllocationAlignment and ready for use on `stream`; nullptr
  // when nbytes is 0. ResourceExhausted, with the sizes, when there is no memory. Any thread.
  virtual absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) = 0;

  // Whether this is an allocator of ordinary host memory that takes up to kMostSmallBytes from the
  // small blocks (host/small_blocks.h), so that others may take them there themselves.
  virtual bool gives_small_blocks() const { return false; }

  // Whether memory of so many bytes is all zeros when it is given out, so that nobody need fill it.
  virtual bool GivesZeros(size_t /*nbytes*/) const { return false; }

  // Takes back what Allocate gave for `nbytes`. The memory is not reused before the work in `uses`
  // is done; null: there was none. Any thread; must neither block nor throw nor, on a GPU, call the
  // vendor.
  virtual void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept = 0;

  // Gives memory that nobody uses back to the system, all but `keep` bytes.
  virtual absl::Status Trim(size_t /*keep*/) { return absl::OkStatus(); }

  virtual AllocatorStats Stats() { return {}; }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ALLOCATOR_H_
