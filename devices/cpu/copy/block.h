// What every kernel copies: a block of two loops of elements of one size, or of three.
//
//   Block b{dst, src, {.count = 3, .dst_step = 4, .src_step = 12}, {.count = 5, .dst_step = 12,
//   .src_step = 4}}; CopyElements<4>(b);                      // 5 x 3 elements of 4 bytes
//
// Steps are bytes, of any sign. Nothing is owned; kernels never throw, never allocate, and read and
// write the bytes of the elements alone, except where one says so.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BLOCK_H_
#define DOVETAIL_DEVICES_CPU_COPY_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

struct Loop {
  int64_t count;
  int64_t dst_step;
  int64_t src_step;
};

// How much new memory a turn of the loop reaches, on the side where that is less; on dst's where
// src stands still.
inline int64_t Cost(const Loop& loop) {
  const int64_t dst = std::abs(loop.dst_step), src = std::abs(loop.src_step);
  return src == 0 ? dst : std::min(dst, src);
}

// Of one processor, by how near they are.
enum class Cache : uint8_t { kFirst, kSecond };

// Rows of memory that will be read soon, and the cache that they shall be in by then.
struct ComingRows {
  const char* first = nullptr;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t pitch = 0;
  Cache into = Cache::kFirst;
  // Whether they are farther away than the last cache.
  bool from_memory = false;
};

struct Block {
  char* dst;
  const char* src;
  Loop inner;
  Loop outer;
  // Around both, for kernels whose preparations take longer than a short row (kernels.h names
  // them); for all others it has one turn.
  Loop rows = {1, 0, 0};
  // What a transpose past the cache asks for while it writes.
  ComingRows coming = {};
};

// The line's worth of columns before those of a block, with which its rows' first lines begin.
struct ColumnsBefore {
  int64_t at = 0;         // where they are in src, from the block's first
  char* kept = nullptr;   // if not null, where each row's last ones are kept for the block after it
                          // in dst: a line each, row after row
  bool are_kept = false;  // whether these are there already, from the block before it
};

// The turns [begin, end) of one of its loops.
inline Block PartOf(Block block, Loop Block::* loop, int64_t begin, int64_t end) {
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

// Asks for a line, so that it is in that cache when it is read.
[[gnu::always_inline]] inline void AskForLine(const char* line, Cache cache) {
  if (cache == Cache::kFirst) {
    __builtin_prefetch(line, 0, 3);
  } else {
    __builtin_prefetch(line, 0, 2);
  }
}

// The same for a row: every line that it lies in.
[[gnu::always_inline]] inline void AskFor(const char* row, int64_t bytes, Cache cache) {
  const int64_t past_line = reinterpret_cast<intptr_t>(row) & 63;
  for (int64_t i = -past_line; i < bytes; i += 64) AskForLine(row + i, cache);
}

using BlockKernel = void (*)(const Block&);

// The longest step, in bytes, of elements of so many bytes that are collected from gaps or spread
// over them several at a time: beyond, a vector has too few.
constexpr int64_t WidestGap(int64_t unit) { return unit == 1 ? 10 : 20; }

// The bytes of the least vector, and of each part of a wider one that shuffles keep apart.
inline constexpr int64_t kLaneBytes = 16;
// How far the next pixel may be in src for what lies between to be read too: in the next line.
inline constexpr int64_t kFarthestPixel = 64;

// Whether the planes, dense in src, are fewer than a lane, which may read on up to the next pixel.
inline bool IsNarrowInSrc(const Loop& inner, const Loop& planes, int64_t unit) {
  return planes.count * unit < kLaneBytes && inner.src_step > 0 && inner.src_step <= kFarthestPixel;
}
// Whether the planes, dense in dst, are, and a lane may write on: what comes next is written later.
inline bool IsNarrowInDst(const Loop& planes, const Loop& outer, int64_t unit) {
  return planes.count * unit < kLaneBytes && outer.dst_step == planes.count * unit;
}

// The sizes of element that kernels exist for: 1 << 0 to 1 << 4 bytes.
inline constexpr int kUnitSizes = 5;
inline constexpr int kMaxUnit = 16;

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_BLOCK_H_
