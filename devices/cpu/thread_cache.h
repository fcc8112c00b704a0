// The memory of small tensors: each thread keeps freed blocks by size, so that in steady state
// making and dropping a tensor calls no malloc and takes no lock.
//
//   void* data = AllocateSmall(100);      // a block of 256 bytes, aligned to 256; or nullptr
//   FreeSmall(data, 100);                 // on any thread: into that thread's lists
//
// Blocks come in powers of two from 256 bytes to 64 KiB. A thread keeps at most
// DOVETAIL_CPU_CACHE_BYTES (an environment variable, read once; 256 KiB unless set, 0 for none) of
// each size, and gives all of it back when it ends. Under AddressSanitizer nothing is kept, so that
// a use after free is seen. A forked child keeps what the forking thread had.

#ifndef DOVETAIL_DEVICES_CPU_THREAD_CACHE_H_
#define DOVETAIL_DEVICES_CPU_THREAD_CACHE_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI::internal_cpu {

inline constexpr size_t kSmallestBlock = kAllocationAlignment;
inline constexpr int kBlockSizes = 9;
inline constexpr size_t kLargestBlock = kSmallestBlock << (kBlockSizes - 1);  // 64 KiB

// The place among the sizes of the smallest block that holds `nbytes`, 1 to kLargestBlock.
constexpr int SizeClass(size_t nbytes) { return std::bit_width((nbytes - 1) / kSmallestBlock); }
constexpr size_t BlockSize(int size_class) { return kSmallestBlock << size_class; }
static_assert(SizeClass(1) == 0 && SizeClass(256) == 0 && SizeClass(257) == 1);
static_assert(SizeClass(kLargestBlock) == kBlockSizes - 1);

// A number that one thread changes and others may read.
class Counter {
 public:
  void Add(int64_t n) { value_.store(value() + n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct ThreadCache {
  void* free[kBlockSizes];  // a free block holds the pointer to the next in its first bytes
  int room[kBlockSizes];    // how many more are kept; 0 before the first use and after the end
  uint32_t trims;           // how many calls of TrimSmall it has seen
  bool started, ended;
  // What this thread took less what it gave, which is negative where it frees others' memory.
  Counter allocated_bytes;  // as asked for
  Counter allocations;
};

// Constant-initialised and initial-exec: reaching it costs neither a guard nor a call.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit ThreadCache thread_cache{};
// Raised by TrimSmall; each thread empties its lists when it sees that.
inline std::atomic<uint32_t> trims{0};

void* AllocateSlow(ThreadCache& cache, int size_class, size_t nbytes) noexcept;
void FreeSlow(ThreadCache& cache, int size_class, void* block) noexcept;

// nullptr where there is no memory. `nbytes` is 1 to kLargestBlock.
inline void* AllocateSmall(size_t nbytes) noexcept {
  ThreadCache& cache = thread_cache;
  const int size_class = SizeClass(nbytes);
  void* const block = cache.free[size_class];
  if (block == nullptr || cache.trims != trims.load(std::memory_order_relaxed)) [[unlikely]] {
    return AllocateSlow(cache, size_class, nbytes);
  }
  cache.free[size_class] = *static_cast<void**>(block);
  ++cache.room[size_class];
  cache.allocated_bytes.Add(static_cast<int64_t>(nbytes));
  cache.allocations.Add(1);
  return block;
}

inline void FreeSmall(void* block, size_t nbytes) noexcept {
  ThreadCache& cache = thread_cache;
  const int size_class = SizeClass(nbytes);
  cache.allocated_bytes.Add(-static_cast<int64_t>(nbytes));
  if (cache.room[size_class] <= 0 || cache.trims != trims.load(std::memory_order_relaxed))
      [[unlikely]] {
    FreeSlow(cache, size_class, block);
    return;
  }
  *static_cast<void**>(block) = cache.free[size_class];
  cache.free[size_class] = block;
  --cache.room[size_class];
}

struct SmallStats {
  int64_t allocated_bytes, allocations;
};
// Of all threads, those that have ended included.
SmallStats GetSmallStats();

// Bytes of all blocks, in use and kept.
int64_t SmallBlockBytes();

// Gives the blocks that this thread keeps back at once; other threads do so at their next
// allocation or release of a small tensor.
void TrimSmall();

}  // namespace dovetail::inline DOVETAIL_ABI::internal_cpu

#endif  // DOVETAIL_DEVICES_CPU_THREAD_CACHE_H_
