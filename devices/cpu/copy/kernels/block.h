// A block is the unit of work of a kernel: two or three nested loops over elements of one size.
//
//   Block b{.dst = dst, .src = src,                                   // 5 x 3 elements of 4 bytes
//           .inner = {.count = 3, .dst_step = 4, .src_step = 20},
//           .outer = {.count = 5, .dst_step = 12, .src_step = 4}};
//   CopyElements<4>(b);
//
// Steps are in bytes and can be negative. A block owns nothing. Kernels never throw and never
// allocate. They read and write only the bytes of the elements, unless their comment says
// otherwise.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using internal_loop_nest::Loop;

// Bytes that one iteration advances, on the side where it advances less. If src does not advance,
// the bytes in dst.
inline int64_t Cost(const Loop& loop) {
  const int64_t dst = std::abs(loop.dst_step), src = std::abs(loop.src_step);
  return src == 0 ? dst : std::min(dst, src);
}

// The caches that a software prefetch can target.
enum class Cache : uint8_t { kL1, kL2 };

// Rows to prefetch.
struct PrefetchedRows {
  const char* first = nullptr;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t pitch = 0;
};

struct Block {
  char* dst;
  const char* src;
  Loop inner;
  Loop outer;
  // The loop around the other two. Only `transpose_groups` uses it, because its tiles extend along
  // this loop; for others it has one iteration.
  Loop rows = {1, 0, 0};
  // Rows that a transpose prefetches while it runs.
  PrefetchedRows prefetched = {};
};

// The block reduced to iterations [begin, end) of one of its loops.
inline Block PartOf(Block block, Loop Block::* loop, int64_t begin, int64_t end) {
  block.dst += begin * (block.*loop).dst_step;
  block.src += begin * (block.*loop).src_step;
  (block.*loop).count = end - begin;
  return block;
}

// Prefetches a line into `cache`.
[[gnu::always_inline]] inline void PrefetchLine(const char* line, Cache cache) {
  if (cache == Cache::kL1) {
    __builtin_prefetch(line, 0, 3);
  } else {
    __builtin_prefetch(line, 0, 2);
  }
}

// Prefetches every line that a row touches.
[[gnu::always_inline]] inline void PrefetchRow(const char* row, int64_t bytes, Cache cache) {
  const int64_t past_line = reinterpret_cast<intptr_t>(row) & 63;
  for (int64_t i = -past_line; i < bytes; i += 64) PrefetchLine(row + i, cache);
}

using BlockKernel = void (*)(const Block&);

// Indices for unrolled loops over registers. They are signed because steps are: a negative step
// times an unsigned index wraps around and is no valid pointer offset.
template <int64_t... kIndex>
using Indices = std::integer_sequence<int64_t, kIndex...>;
template <int64_t kCount>
using IndicesBelow = std::make_integer_sequence<int64_t, kCount>;

// The longest step, in bytes, at which vectors gather or scatter elements of `unit` bytes. With
// longer steps a vector holds too few of them.
constexpr int64_t WidestGap(int64_t unit) { return unit == 1 ? 10 : 20; }

// A lane: 16 bytes, the smallest vector. Wider vectors consist of lanes, and in-lane shuffles do
// not cross their boundaries.
inline constexpr int64_t kLaneBytes = 16;
// The widest vector of any level.
inline constexpr int64_t kMaxVector = 64;
// The longest step between two pixels in src that kernels read across: one cache line.
inline constexpr int64_t kFarthestPixel = 64;

// True if the planes, dense in src, are narrower than a lane, so that a load of a lane reads into
// the next pixel.
inline bool IsNarrowInSrc(const Loop& inner, const Loop& planes, int64_t unit) {
  return planes.count * unit < kLaneBytes && inner.src_step > 0 && inner.src_step <= kFarthestPixel;
}
// True if the planes, dense in dst, are narrower than a lane, and what a store of a lane writes
// beyond them is overwritten later.
inline bool IsNarrowInDst(const Loop& planes, const Loop& outer, int64_t unit) {
  return planes.count * unit < kLaneBytes && outer.dst_step == planes.count * unit;
}

// Kernels exist for elements of 1 << 0 to 1 << 4 bytes.
inline constexpr int kUnitSizes = 5;
inline constexpr int kMaxUnit = 16;

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_BLOCK_H_
