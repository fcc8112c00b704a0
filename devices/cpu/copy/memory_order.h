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

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

struct MemoryOrder {
  // A transpose: what is written side by side of each row of dst, the rows of src that it comes
  // from at most, and what is read of each of these before it goes on to the next ones.
  int64_t band_bytes;
  int64_t band_rows;
  int64_t strip_bytes;
  // What is read of each row of src in one go, and meanwhile asked for of what comes next; 0 where
  // the processor does better by itself.
  int64_t ahead_bytes;
  // Whether a transpose to short rows that continue each other gathers several of them.
  bool gather_runs;
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
};

// Xeon of the fourth generation (Sapphire Rapids): follows some 64 rows of src by itself.
inline constexpr MemoryOrder kFollowsManyRows = {
    .band_bytes = 128,
    .band_rows = 64,
    .strip_bytes = 4096,
    .ahead_bytes = 0,
    .gather_runs = false,
    .joined_unit = 4,
    .buffer_bytes = 32 << 10,
    .buffer_rows = 128,
    .run_bytes = 32 << 10,
    .buffers_rows = true,
    .made_row_bytes = 384,
    .rows_as_in_src = false,
    .rows_ahead_bytes = 0,
};

// EPYC of the fifth generation (Zen 5): follows few rows of src by itself, but writes to many of
// dst as fast as to one.
inline constexpr MemoryOrder kFollowsFewRows = {
    .band_bytes = 256,
    .band_rows = 128,
    .strip_bytes = 4096,
    .ahead_bytes = 512,
    .gather_runs = true,
    .joined_unit = 1,
    .buffer_bytes = 64 << 10,
    .buffer_rows = 256,
    .run_bytes = 8 << 10,
    .buffers_rows = false,
    .made_row_bytes = 8192,
    .rows_as_in_src = true,
    .rows_ahead_bytes = 8192,
};

inline constexpr int64_t kMostBufferBytes =
    std::max(kFollowsManyRows.buffer_bytes, kFollowsFewRows.buffer_bytes);
inline constexpr int64_t kMostBufferRows =
    std::max(kFollowsManyRows.buffer_rows, kFollowsFewRows.buffer_rows);

// What suits this processor.
inline const MemoryOrder& OwnMemoryOrder() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // for callers that run before the constructors of libgcc
  if (__builtin_cpu_is("amd")) return kFollowsFewRows;
#endif
  return kFollowsManyRows;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_MEMORY_ORDER_H_
