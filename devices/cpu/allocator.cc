#include "dovetail/devices/cpu/allocator.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/blocks/small_blocks.h"
#include "dovetail/devices/cpu/mapped_memory.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using internal_cpu::kLeastMapped;

// Aligned memory from malloc. posix_memalign takes three times as long, because it frees the rest
// around the aligned block. The pointer from malloc is stored right before the memory. (Under
// AddressSanitizer posix_memalign is used, so that only guarded bytes surround the memory.)
void* AllocateAligned(size_t nbytes) {
  static_assert(alignof(std::max_align_t) >= sizeof(void*));
  if constexpr (kAddressSanitizer) {
    void* data = nullptr;
    return posix_memalign(&data, kAllocationAlignment, nbytes) == 0 ? data : nullptr;
  }
  auto* const block = static_cast<char*>(std::malloc(nbytes + kAllocationAlignment));
  if (block == nullptr) return nullptr;
  const size_t past = reinterpret_cast<uintptr_t>(block) % kAllocationAlignment;
  auto* const data = reinterpret_cast<void**>(block + kAllocationAlignment - past);
  data[-1] = block;
  return static_cast<void*>(data);
}

void FreeAligned(void* data) {
  if (data == nullptr) return;  // of 0 bytes
  std::free(kAddressSanitizer ? data : static_cast<void**>(data)[-1]);
}

void* AllocateLarge(size_t nbytes) {
  return nbytes >= kLeastMapped ? internal_cpu::AllocateMapped(nbytes) : AllocateAligned(nbytes);
}

void FreeLarge(void* data, size_t nbytes) {
  nbytes >= kLeastMapped ? internal_cpu::FreeMapped(data, nbytes) : FreeAligned(data);
}

// The result of an allocation that got no memory: null for 0 bytes, else the error.
[[gnu::noinline]] absl::StatusOr<void*> NoMemory(size_t nbytes) {
  if (nbytes == 0) return nullptr;
  return absl::ResourceExhaustedError(
      absl::StrCat("Out of memory on cpu: ", nbytes, " bytes could not be allocated."));
}

}  // namespace

absl::StatusOr<void*> CpuAllocator::Allocate(size_t nbytes, const Stream&) {
  if (IsSmallSize(nbytes)) [[likely]] {
    if (SmallBlock* block = TakeSmallBlock(nbytes)) return block->data();
  } else if (void* data = TakeLarge(nbytes)) {
    return data;
  }
  return NoMemory(nbytes);
}

bool CpuAllocator::GivesZeros(size_t nbytes) const {
  return nbytes >= kLeastMapped && internal_cpu::IsNewMapping(nbytes);
}

void CpuAllocator::Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses>) noexcept {
  if (IsSmallSize(nbytes)) [[likely]] {
    GiveSmallBlock(SmallBlock::Of(data), nbytes);
  } else {
    GiveLarge(data, nbytes);
  }
}

// Not inlined, so that allocations of small blocks do not pay for their stack frames.
[[gnu::noinline]] void* CpuAllocator::TakeLarge(size_t nbytes) noexcept {
  void* data = nbytes == 0 ? nullptr : AllocateLarge(nbytes);
  if (data == nullptr) return nullptr;
  const auto bytes = static_cast<int64_t>(nbytes);
  NotePeak(large_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  large_allocations_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

[[gnu::noinline]] void CpuAllocator::GiveLarge(void* data, size_t nbytes) noexcept {
  FreeLarge(data, nbytes);
  large_bytes_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
}

absl::Status CpuAllocator::Trim(size_t keep) {
  TrimSmallBlocks();
  internal_cpu::TrimMapped(keep);
  return absl::OkStatus();
}

void CpuAllocator::NotePeak(int64_t large_bytes) {
  RaisePeak(peak_bytes_, large_bytes + ReservedSmallBytes());
}

AllocatorStats CpuAllocator::Stats() {
  const int64_t large_bytes = large_bytes_.load(std::memory_order_relaxed);
  NotePeak(large_bytes);
  const SmallBlockStats small = GetSmallBlockStats();
  return {
      .allocated_bytes = large_bytes + small.allocated_bytes,
      .peak_bytes = peak_bytes_.load(std::memory_order_relaxed),
      .reserved_bytes = large_bytes + internal_cpu::MappedBytesKept() + ReservedSmallBytes(),
      .allocations = large_allocations_.load(std::memory_order_relaxed) + small.allocations,
  };
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
