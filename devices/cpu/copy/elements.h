// The kernel for any steps: element by element.
//
//   CopyElements<4>(block);             // elements of 4 bytes
//
// Loads and stores are by memcpy, since neither side need be aligned.

#ifndef DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_
#define DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/cache_sets.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Of so many elements that follow each other in dst, the lines of src stay in the nearest cache.
inline constexpr int64_t kTileElements = 256;

// One loop, of kCount turns, where that is not 0.
template <int kUnit, int kCount = 0>
inline void CopyLine(char* dst, const char* src, const Loop& loop) {
  const int64_t count = kCount > 0 ? kCount : loop.count;
#pragma GCC unroll 8
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(dst, src, kUnit);
    dst += loop.dst_step;
    src += loop.src_step;
  }
}

template <int kUnit, int kCount = 0>
inline void CopyLines(char* dst, const char* src, const Loop& inner, const Loop& outer) {
  for (int64_t j = 0; j < outer.count; ++j) {
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

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_
