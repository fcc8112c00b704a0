// In which order copies past the cache go through memory: what a processor is quick at.
//
//   const MemoryOrder& order = OwnMemoryOrder();
//   if (order.ahead_bytes > 0) …            // ask for what comes next: it does not do that itself
//
// Found by measuring, on the processors that are named below; other x86-64 and ARM processors are
// taken to be like the first of them. Threads: any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_MEMORY_ORDER_H_
#define DOVETAIL_DEVICES_CPU_COPY_MEMORY_ORDER_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/block.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

struct MemoryOrder {
  // A transpose: what is written side by side of each row of dst, the rows of src that it comes
  // from at most, and what is read of each of these before it goes on to the next ones.
  int64_t band_bytes;
  int64_t band_rows;
  int64_t strip_bytes;
  // The same where rows of dst begin at lines and src lies in memory, not in a cache; and where
  // elements are of less than 8 bytes and their rows drive each other out, so that squares of them
  // are gathered.
  int64_t strip_bytes_at_lines;
  int64_t strip_bytes_gathered;
  // What is read of each row of src in one go, and meanwhile asked for of what comes next; 0 where
  // the processor does better by itself. And which cache all that is asked for comes into.
  int64_t ahead_bytes;
  Cache asked_into;
  // The same of all rows of a band together where src lies in memory and these do not drive each
  // other out of the nearest cache; bands of elements of 4 bytes and more have the more of so many
  // bytes and so many rows then, if rows of dst begin at lines. 0: not so.
  int64_t ahead_bytes_of_band;
  int64_t least_band_bytes;
  int64_t least_band_rows;
  // What a transpose to short rows that continue each other gathers of each row of src for several
  // of them: an even number of lines; 0 where it does not.
  int64_t gathered_bytes;
  // The bytes of an element at least that rows of dst which lie off the lines are put together of
  // in registers; of narrower ones that takes longer than by way of a buffer.
  int64_t joined_unit;
  // What is gathered in a buffer at a time, where whole lines cannot leave from registers, and the
  // rows of dst that it is for at most.
  int64_t buffer_bytes;
  int64_t buffer_rows;
  // The same where rows of dst are short and continue each other, if that is enough of each row of
  // src.
  int64_t run_bytes;
  // Whether rows of dst that no tile makes (of every few elements of src, say, or of them
  // backwards) are worth the buffer; and their bytes from which on they go past the cache without
  // one.
  bool buffers_rows;
  int64_t made_row_bytes;
  // Whether rows that are dense on both sides, and long or whole lines, are taken as they follow
  // each other in src rather than in dst; and how far ahead rows are asked for where they do not
  // follow each other in src, 0 as above.
  bool rows_as_in_src;
  int64_t rows_ahead_bytes;
  // Of rows that follow each other in dst off the lines, as many are written before those that
  // follow the first of them in src; 0 where all are.
  int64_t joined_rows;
};

// Xeon of the fourth generation (Sapphire Rapids): follows some 64 rows of src by itself.
inline constexpr MemoryOrder kFollowsManyRows = {
    .band_bytes = 128,
    .band_rows = 64,
    .strip_bytes = 4096,
    .strip_bytes_at_lines = 4096,
    .strip_bytes_gathered = 4096,
    .ahead_bytes = 0,
    .asked_into = Cache::kFirst,
    .ahead_bytes_of_band = 0,
    .least_band_bytes = 128,
    .least_band_rows = 0,
    .gathered_bytes = 0,
    .joined_unit = 4,
    .buffer_bytes = 32 << 10,
    .buffer_rows = 128,
    .run_bytes = 32 << 10,
    .buffers_rows = true,
    .made_row_bytes = 384,
    .rows_as_in_src = false,
    .rows_ahead_bytes = 0,
    .joined_rows = 0,
};

// EPYC of the fifth generation (Zen 5): follows few rows of src by itself, but writes to many of
// dst as fast as to one.
inline constexpr MemoryOrder kFollowsFewRows = {
    .band_bytes = 256,
    .band_rows = 256,
    .strip_bytes = 4096,
    .strip_bytes_at_lines = 16 << 10,
    .strip_bytes_gathered = 16 << 10,
    .ahead_bytes = 512,
    .asked_into = Cache::kFirst,
    .ahead_bytes_of_band = 32 << 10,
    .least_band_bytes = 128,
    .least_band_rows = 0,
    .gathered_bytes = 2048,
    .joined_unit = 1,
    .buffer_bytes = 64 << 10,
    .buffer_rows = 256,
    .run_bytes = 8 << 10,
    .buffers_rows = false,
    .made_row_bytes = 1024,
    .rows_as_in_src = true,
    .rows_ahead_bytes = 8192,
    .joined_rows = 0,
};

// EPYC of the fourth generation (Zen 4): as the fifth, but has fewer lines under way to the first
// cache than to the second, reads on in up to sixteen places as fast as in one, and does better by
// shorter strips of squares and by four lines of complex128.
inline constexpr MemoryOrder kFollowsFewAsksSecond = [] {
  MemoryOrder order = kFollowsFewRows;
  order.asked_into = Cache::kSecond;
  order.strip_bytes_gathered = 2048;
  order.least_band_rows = 16;
  order.made_row_bytes = 8192;
  order.joined_rows = 10;
  return order;
}();

// EPYC of the third generation (Zen 3): as the fourth, but writes long pieces of a row faster than
// short ones, and has a second cache of half the size, which holds what is asked for of fewer rows.
// (Zen and Zen 2, which were not measured, are taken to be like it.)
inline constexpr MemoryOrder kWritesLongPieces = [] {
  MemoryOrder order = kFollowsFewAsksSecond;
  order.band_bytes = 512;
  order.band_rows = 128;
  order.ahead_bytes = 256;
  order.ahead_bytes_of_band = 16 << 10;
  return order;
}();

inline constexpr const MemoryOrder* kAllMemoryOrders[] = {
    &kFollowsManyRows, &kFollowsFewRows, &kFollowsFewAsksSecond, &kWritesLongPieces};

// The most of a member of all of them.
constexpr int64_t MostOf(int64_t MemoryOrder::* member) {
  int64_t most = 0;
  for (const MemoryOrder* order : kAllMemoryOrders) most = std::max(most, order->*member);
  return most;
}
inline constexpr int64_t kMostBufferBytes = MostOf(&MemoryOrder::buffer_bytes);
inline constexpr int64_t kMostBufferRows = MostOf(&MemoryOrder::buffer_rows);

// What suits this processor.
inline const MemoryOrder& OwnMemoryOrder() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // for callers that run before the constructors of libgcc
  if (__builtin_cpu_is("amdfam17h") || __builtin_cpu_is("amdfam19h")) {
    // (Zen 4 is of the family of Zen 3, and the first with AVX-512.)
    return __builtin_cpu_supports("avx512f") ? kFollowsFewAsksSecond : kWritesLongPieces;
  }
  if (__builtin_cpu_is("amd")) return kFollowsFewRows;
#endif
  return kFollowsManyRows;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_MEMORY_ORDER_H_
