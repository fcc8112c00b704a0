// The kernel for any steps: element by element.
//
//   CopyElements<4>(block);             // elements of 4 bytes
//
// Loads and stores are by memcpy, since neither side need be aligned.

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

// Of so many elements that follow each other in dst, the lines of src stay in the nearest cache.
inline constexpr int64_t kTileElements = 256;

// kCount elements, four from one address on each side: a processor adds to an address once a cycle,
// but copies several elements in one.
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

// One loop, of kCount iterations, where that is not 0.
template <int kUnit, int kCount = 0>
[[gnu::always_inline]] inline void CopyLine(char* dst, const char* src, Loop loop) {
  const int64_t dst_step = loop.dst_step, src_step = loop.src_step;
  if constexpr (kCount > 0) return CopyUnrolled<kUnit, kCount>(dst, src, dst_step, src_step);
  // (What lies far apart comes one after the other: up to twice as fast, past the caches.)
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

// (Loops are values here: what is written might be one that is referred to.)
template <int kUnit, int kCount = 0>
inline void CopyLines(char* dst, const char* src, Loop inner, Loop outer) {
  if constexpr (kCount == 2) {  // which is faster as two loops side by side
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

// Two loops. In tiles where these go across each other, so that the lines of both sides are still
// in the cache when they are needed again.
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

// A transpose of elements of 16 bytes, of which a line holds few: inner is dense in dst, outer in
// src. Where the rows of src evict each other from the cache, each line of them is read once.
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
