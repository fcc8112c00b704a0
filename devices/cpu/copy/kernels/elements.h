// The kernel for arbitrary steps: it copies element by element.
//
//   CopyElements<4>(block);             // elements of 4 bytes
//
// Loads and stores go through memcpy, because neither side has to be aligned.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_ELEMENTS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_ELEMENTS_H_

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Tile width, in elements, whose source lines fit in the L1 cache.
inline constexpr int64_t kTileElements = 256;

// Copies kCount elements, four per address update on each side: a processor updates an address once
// per cycle but copies several elements per cycle.
template <int kUnit, int kCount>
[[gnu::always_inline]] inline void CopyUnrolled(char* dst, const char* src, int64_t dst_step,
                                                int64_t src_step) {
  std::memcpy(dst, src, kUnit);
  if constexpr (kCount > 1) std::memcpy(dst + dst_step, src + src_step, kUnit);
  if constexpr (kCount > 2) std::memcpy(dst + 2 * dst_step, src + 2 * src_step, kUnit);
  if constexpr (kCount > 3) std::memcpy(dst + 3 * dst_step, src + 3 * src_step, kUnit);
  if constexpr (kCount > 4) {
    CopyUnrolled<kUnit, kCount - 4>(dst + 4 * dst_step, src + 4 * src_step, dst_step, src_step);
  }
}

// Copies one loop. If kCount is not 0, it is the number of iterations.
template <int kUnit, int kCount = 0>
[[gnu::always_inline]] inline void CopyLine(char* dst, const char* src, Loop loop) {
  const int64_t dst_step = loop.dst_step, src_step = loop.src_step;
  if constexpr (kCount > 0) return CopyUnrolled<kUnit, kCount>(dst, src, dst_step, src_step);
  // (For elements that are far apart, in memory: one element after the other is up to twice as fast
  // as four per address update.)
  if (std::abs(src_step) >= 64 && loop.count * std::abs(src_step) > kWays * kSetPeriod) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < loop.count; ++i) {
      std::memcpy(dst, src, kUnit);
      dst += dst_step;
      src += src_step;
    }
    return;
  }
  for (int64_t i = loop.count / 4; i > 0; --i) {
    CopyUnrolled<kUnit, 4>(dst, src, dst_step, src_step);
    dst += 4 * dst_step;
    src += 4 * src_step;
  }
  if (loop.count & 2) {
    CopyUnrolled<kUnit, 2>(dst, src, dst_step, src_step);
    dst += 2 * dst_step;
    src += 2 * src_step;
  }
  if (loop.count & 1) std::memcpy(dst, src, kUnit);
}

// (Loops are passed by value: a store to dst may alias a Loop behind a reference, which would force
// a reload.)
template <int kUnit, int kCount = 0>
inline void CopyLines(char* dst, const char* src, Loop inner, Loop outer) {
  if constexpr (kCount == 2) {  // two separate address streams are faster
    char* second_dst = dst + inner.dst_step;
    const char* second_src = src + inner.src_step;
    for (int64_t j = outer.count; j > 0; --j) {
      std::memcpy(dst, src, kUnit);
      std::memcpy(second_dst, second_src, kUnit);
      dst += outer.dst_step;
      src += outer.src_step;
      second_dst += outer.dst_step;
      second_src += outer.src_step;
    }
    return;
  }
  for (int64_t j = outer.count; j > 0; --j) {
    CopyLine<kUnit, kCount>(dst, src, inner);
    dst += outer.dst_step;
    src += outer.src_step;
  }
}

// Copies both loops. If inner is the loop with larger steps in src, it runs in tiles, so that the
// lines of both sides are still cached when they are needed again.
template <int kUnit>
void CopyElements(const Block& block) {
  const Loop& all = block.inner;
  if (std::abs(block.outer.src_step) >= std::abs(all.src_step)) {
    return CopyLines<kUnit>(block.dst, block.src, all, block.outer);
  }
  const int64_t tile = Collide(kTileElements, all.src_step) ? 32 : kTileElements;
  for (int64_t i = 0; i < all.count; i += tile) {
    const Loop inner{std::min(tile, all.count - i), all.dst_step, all.src_step};
    CopyLines<kUnit>(block.dst + i * inner.dst_step, block.src + i * inner.src_step, inner,
                     block.outer);
  }
}

// Transposes elements of 16 bytes: inner is dense in dst, outer in src. If the rows of src evict
// each other from the L1 cache, it copies four elements of a row at a time, so that each line is
// read once.
inline void TransposeWide(const Block& block) {
  constexpr int kUnit = 16, kInLine = 64 / kUnit;
  const Loop row = block.inner;
  if (!Collide(row.count, row.src_step)) return CopyElements<kUnit>(block);
  const auto to_line = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(block.src) % 64) / kUnit;
  int64_t at = std::min(to_line, block.outer.count);
  CopyElements<kUnit>(PartOf(block, &Block::outer, 0, at));
  for (; at + kInLine <= block.outer.count; at += kInLine) {
    const Block lines = PartOf(block, &Block::outer, at, at + kInLine);
    for (int64_t i = 0; i < row.count; ++i) {
      CopyUnrolled<kUnit, kInLine>(lines.dst + i * kUnit, lines.src + i * row.src_step,
                                   lines.outer.dst_step, kUnit);
    }
  }
  CopyElements<kUnit>(PartOf(block, &Block::outer, at, block.outer.count));
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_ELEMENTS_H_
