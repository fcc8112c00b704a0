// Allocator: the source of a backend's memory. There is one for each device and kind of memory.
//
//   absl::StatusOr<Allocator*> a = backend->GetAllocator(Device::Cpu(), MemoryKind::kDevice);
//   absl::StatusOr<void*> p = (*a)->Allocate(1024, Stream::Default(Device::Cpu()));
//   (*a)->Deallocate(*p, 1024, nullptr);
//
// Programs rarely call an Allocator. Storage::Allocate does, and the Storage returns the memory.

#ifndef DOVETAIL_CORE_ALLOCATOR_H_
#define DOVETAIL_CORE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/memory.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The alignment, in bytes, of all memory that Dovetail allocates (DLPack's nominal alignment).
DOVETAIL_NOT_SHARED inline constexpr size_t kAllocationAlignment = 256;

// Statistics of one allocator since the process began.
struct AllocatorStats {
  int64_t allocated_bytes = 0;  // requested bytes of the memory in use
  int64_t peak_bytes = 0;       // the maximum of allocated_bytes
  int64_t reserved_bytes = 0;   // held from the system: in use, kept for reuse or not yet released
  int64_t allocations = 0;      // calls of Allocate that succeeded
  int64_t retries = 0;          // calls that first released unused memory, and tried again
};

// Raises `peak` to `now` if `now` is larger. Any thread.
inline void RaisePeak(std::atomic<int64_t>& peak, int64_t now) {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < now && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

class Allocator {
 public:
  virtual ~Allocator() = default;

  // At least `nbytes` bytes, aligned to kAllocationAlignment and ready for use on `stream`, and by
  // the host if it accesses this kind of memory directly; nullptr if nbytes is 0.
  // ResourceExhausted, with the sizes, if there is not enough memory. Any thread.
  virtual absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) = 0;

  // Whether this allocates ordinary host memory and takes sizes up to kMostSmallBytes from the
  // small blocks (internal/blocks/small_blocks.h). Callers may then take small blocks directly.
  virtual bool gives_small_blocks() const { return false; }

  // Whether new memory of this size is all zeros. Callers can then skip the fill with zeros.
  virtual bool GivesZeros(size_t /*nbytes*/) const { return false; }

  // Takes back memory that Allocate returned for `nbytes`. The memory is not reused before the work
  // in `uses` is done, all of which is this backend's; nullptr means that there was no work. Any
  // thread. Must not block, throw or, on a GPU, call the vendor's driver.
  virtual void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept = 0;

  // Releases unused memory to the system, except for `keep` bytes.
  virtual absl::Status Trim(size_t /*keep*/) { return absl::OkStatus(); }

  virtual AllocatorStats Stats() { return {}; }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ALLOCATOR_H_
