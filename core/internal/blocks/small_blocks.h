// Small host memory. Each thread keeps freed blocks by size. In steady state, making and dropping a
// tensor calls no malloc and takes no lock.
//
//   SmallBlock* block = TakeSmallBlock(100);     // or nullptr
//   void* data = block->data();                  // 256 bytes, aligned to 256
//   GiveSmallBlock(SmallBlock::Of(data), 100);   // on any thread: into that thread's lists
//
// Sizes are powers of two from 256 bytes to 64 KiB. A header precedes the memory. The Storage that
// counts the memory stays there from one use to the next (storage.h), so that memory and Storage
// are taken and given in one step. A thread keeps at most DOVETAIL_CPU_CACHE_BYTES of each size,
// headers not counted, and frees all of it when it ends. This environment variable is read once;
// the default is 256 KiB, and 0 keeps nothing. Under AddressSanitizer nothing is kept, so that a
// use after free is detected. A forked child keeps the blocks of the forking thread.

#ifndef DOVETAIL_CORE_INTERNAL_BLOCKS_SMALL_BLOCKS_H_
#define DOVETAIL_CORE_INTERNAL_BLOCKS_SMALL_BLOCKS_H_

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct alignas(kAllocationAlignment) SmallBlock {
  // An object of the block's user. All users store the same type, which has no destructor.
  std::byte header[64];
  bool has_header = false;  // whether the object has been constructed
  SmallBlock* next;         // the next free block, if this block is free
  // Unused. AddressSanitizer reports accesses to it, which are accesses below the memory.
  alignas(64) std::byte gap[128];

  void* data() { return this + 1; }
  static SmallBlock* Of(void* data) { return static_cast<SmallBlock*>(data) - 1; }
  static SmallBlock* OfHeader(void* header) { return static_cast<SmallBlock*>(header); }
};
static_assert(sizeof(SmallBlock) == kAllocationAlignment && offsetof(SmallBlock, header) == 0);

inline constexpr size_t kLeastSmallBytes = kAllocationAlignment;
inline constexpr int kSmallSizes = 9;
inline constexpr size_t kMostSmallBytes = kLeastSmallBytes << (kSmallSizes - 1);  // 64 KiB

// Whether there are blocks for `nbytes` bytes; false for 0.
constexpr bool IsSmallSize(size_t nbytes) { return nbytes - 1 < kMostSmallBytes; }  // 0 wraps

// The index of the smallest size that fits `nbytes`, which is 1 to kMostSmallBytes.
constexpr int SmallSizeClass(size_t nbytes) {
  return static_cast<int>(std::bit_width((nbytes - 1) / kLeastSmallBytes));
}
constexpr size_t SmallBytes(int size_class) { return kLeastSmallBytes << size_class; }
static_assert(SmallSizeClass(1) == 0 && SmallSizeClass(256) == 0 && SmallSizeClass(257) == 1);
static_assert(SmallSizeClass(kMostSmallBytes) == kSmallSizes - 1);
static_assert(!IsSmallSize(0) && IsSmallSize(1) && IsSmallSize(kMostSmallBytes) &&
              !IsSmallSize(kMostSmallBytes + 1));

namespace internal_small_blocks {

// A number that one thread changes and others may read.
class Counter {
 public:
  void Add(int64_t n) { value_.store(value() + n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

struct ThreadLists {
  SmallBlock* free[kSmallSizes];
  int room[kSmallSizes];  // how many more blocks fit; 0 before the first use and after its end
  uint32_t trims;         // how many calls of TrimSmallBlocks it has handled
  bool started, ended;
  // Taken minus given by this thread; negative if it frees memory of other threads.
  Counter allocated_bytes;  // as requested
  Counter allocations;

  void Keep(int size_class, SmallBlock* block) {
    block->next = free[size_class];
    free[size_class] = block;
    --room[size_class];
  }
  void Count(size_t nbytes) {
    allocated_bytes.Add(static_cast<int64_t>(nbytes));
    allocations.Add(1);
  }
};

// Constant-initialised and initial-exec: access needs neither a guard nor a call.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit ThreadLists thread_lists;
// Incremented by TrimSmallBlocks. Each thread empties its lists when it sees the change.
extern std::atomic<uint32_t> trims;

SmallBlock* TakeSlow(ThreadLists& lists, size_t nbytes) noexcept;
void GiveSlow(ThreadLists& lists, int size_class, SmallBlock* block) noexcept;

}  // namespace internal_small_blocks

// A block that this thread keeps; nullptr if it keeps none for `nbytes`, 1 to kMostSmallBytes.
inline SmallBlock* TakeKeptSmallBlock(size_t nbytes) noexcept {
  auto& lists = internal_small_blocks::thread_lists;
  const int size_class = SmallSizeClass(nbytes);
  SmallBlock* const block = lists.free[size_class];
  if (block == nullptr) [[unlikely]]
    return nullptr;
  lists.free[size_class] = block->next;
  ++lists.room[size_class];
  lists.Count(nbytes);
  return block;
}

// A block that this thread keeps, or a new one. nullptr if there is no memory.
inline SmallBlock* TakeSmallBlock(size_t nbytes) noexcept {
  if (SmallBlock* block = TakeKeptSmallBlock(nbytes); block != nullptr) [[likely]]
    return block;
  return internal_small_blocks::TakeSlow(internal_small_blocks::thread_lists, nbytes);
}

// Gives back a block that was taken for `nbytes`.
inline void GiveSmallBlock(SmallBlock* block, size_t nbytes) noexcept {
  auto& lists = internal_small_blocks::thread_lists;
  const int size_class = SmallSizeClass(nbytes);
  lists.allocated_bytes.Add(-static_cast<int64_t>(nbytes));
  if (lists.room[size_class] <= 0 ||
      lists.trims != internal_small_blocks::trims.load(std::memory_order_relaxed)) [[unlikely]] {
    return internal_small_blocks::GiveSlow(lists, size_class, block);
  }
  lists.Keep(size_class, block);
}

struct SmallBlockStats {
  int64_t allocated_bytes, allocations;
};
// The sums over all threads, including those that have ended.
SmallBlockStats GetSmallBlockStats();

// Bytes of all blocks, in use and kept, headers included.
int64_t ReservedSmallBytes();

// Frees the blocks that this thread keeps. Other threads free theirs when they next give a block,
// or take one of a size of which they keep none.
void TrimSmallBlocks();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_BLOCKS_SMALL_BLOCKS_H_
