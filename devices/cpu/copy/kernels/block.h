// What a kernel copies: two nested loops of elements of one size, or three.
//
//   Block b{.dst = dst, .src = src,                                   // 5 x 3 elements of 4 bytes
//           .inner = {.count = 3, .dst_step = 4, .src_step = 20},
//           .outer = {.count = 5, .dst_step = 12, .src_step = 4}};
//   CopyElements<4>(b);
//
// Steps are bytes, of either sign. Nothing is owned; kernels never throw, never allocate, and read
// and write the bytes of the elements alone, except where one says otherwise.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct Loop {
  int64_t count;
  int64_t dst_step;
  int64_t src_step;
};

// How many bytes an iteration of the loop moves on, on the side where that is less; in dst where
// src stands still.
inline int64_t Cost(const Loop& loop) {
  const int64_t dst = std::abs(loop.dst_step), src = std::abs(loop.src_step);
  return src == 0 ? dst : std::min(dst, src);
}

// The caches that a software prefetch may name.
enum class Cache : uint8_t { kL1, kL2 };

// Rows to prefetch, and into which cache.
struct PrefetchedRows {
  const char* first = nullptr;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t pitch = 0;
  Cache into = Cache::kL1;
  // Whether they lie in memory, not in the last-level cache.
  bool from_memory = false;
};

struct Block {
  char* dst;
  const char* src;
  Loop inner;
  Loop outer;
  // Around both: for `permute`, whose set-up takes longer than a short row, and `transpose_groups`,
  // whose tiles go along it. One iteration for all others.
  Loop rows = {1, 0, 0};
  // What a transpose prefetches meanwhile.
  PrefetchedRows prefetched = {};
};

// The cache line's worth of columns that precedes a block's columns. The first line of each
// misaligned row of dst begins with some of them.
struct ColumnsBefore {
  int64_t at = 0;          // source offset in bytes, from the block's first column
  char* carry = nullptr;   // one line per row, to carry the last columns to the next block of these
                           // rows; or null
  bool has_carry = false;  // whether `carry` holds the columns of the previous block
};

// The iterations [begin, end) of one of its loops.
inline Block PartOf(Block block, Loop Block::*loop, int64_t begin, int64_t end) {
  block.dst += begin * (block.*loop).dst_step;
  block.src += begin * (block.*loop).src_step;
  (block.*loop).count = end - begin;
  return block;
}

// run(row) for each of a block's rows, which has one itself.
template <class Run>
[[gnu::always_inline]] inline void ForEachRow(Block block, Run run) {
  const Loop rows = block.rows;
  block.rows = {1, 0, 0};
  for (int64_t j = rows.count; j > 0; --j) {
    run(block);
    block.dst += rows.dst_step;
    block.src += rows.src_step;
  }
}

// Prefetches a line into that cache.
[[gnu::always_inline]] inline void PrefetchLine(const char* line, Cache cache) {
  if (cache == Cache::kL1) {
    __builtin_prefetch(line, 0, 3);
  } else {
    __builtin_prefetch(line, 0, 2);
  }
}

// The same for a row: every line that it lies in.
[[gnu::always_inline]] inline void PrefetchRow(const char* row, int64_t bytes, Cache cache) {
  const int64_t past_line = reinterpret_cast<intptr_t>(row) & 63;
  for (int64_t i = -past_line; i < bytes; i += 64) PrefetchLine(row + i, cache);
}

using BlockKernel = void (*)(const Block&);

// The indices that kernels unroll their loops over registers by. Signed, as steps are: a negative
// step times an unsigned index is an offset that wraps around, which no pointer may be moved by.
template <int64_t... kIndex>
using Indices = std::integer_sequence<int64_t, kIndex...>;
template <int64_t kCount>
using IndicesBelow = std::make_integer_sequence<int64_t, kCount>;

// The longest step, in bytes, of elements of `unit` bytes that are collected from gaps or spread
// over them by vectors; beyond, a vector holds too few.
constexpr int64_t WidestGap(int64_t unit) { return unit == 1 ? 10 : 20; }

// A lane: the bytes of the smallest vector, and of each part of a wider one that shuffles within
// lanes do not leave.
inline constexpr int64_t kLaneBytes = 16;
// The longest step between two pixels in src that kernels read across: up to the next cache line.
inline constexpr int64_t kFarthestPixel = 64;

// Whether the planes, dense in src, fill no lane, so that a lane reads into the next pixel.
inline bool IsNarrowInSrc(const Loop& inner, const Loop& planes, int64_t unit) {
  return planes.count * unit < kLaneBytes && inner.src_step > 0 && inner.src_step <= kFarthestPixel;
}
// Whether the planes, dense in dst, fill no lane, and what a lane writes beyond them is written
// later.
inline bool IsNarrowInDst(const Loop& planes, const Loop& outer, int64_t unit) {
  return planes.count * unit < kLaneBytes && outer.dst_step == planes.count * unit;
}

// The sizes of element that kernels exist for: 1 << 0 to 1 << 4 bytes.
inline constexpr int kUnitSizes = 5;
inline constexpr int kMaxUnit = 16;

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_
