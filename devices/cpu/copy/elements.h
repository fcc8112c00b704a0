// The kernel for any steps: element by element.
//
//   CopyElements<4>(block)       // elements of 4 bytes

#ifndef DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_
#define DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_

#include <algorithm>
#include <cstring>

#include "dovetail/devices/cpu/copy/block.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// One loop. Loads and stores are by memcpy, since neither side need be aligned.
template <int kUnit>
inline void CopyLine(char* dst, const char* src, const Loop& loop) {
  for (int64_t i = 0; i < loop.count; ++i) {
    std::memcpy(dst, src, kUnit);
    dst += loop.dst_step;
    src += loop.src_step;
  }
}

// Any steps. In tiles, so that the lines of both sides are still in the cache when they are needed
// again.
template <int kUnit>
void CopyElements(const Block& block) {
  constexpr int64_t kTile = 32;
  for (int64_t i = 0; i < block.inner.count; i += kTile) {
    const Loop inner{std::min(kTile, block.inner.count - i), block.inner.dst_step,
                     block.inner.src_step};
    char* dst = block.dst + i * inner.dst_step;
    const char* src = block.src + i * inner.src_step;
    for (int64_t j = 0; j < block.outer.count; ++j) {
      CopyLine<kUnit>(dst, src, inner);
      dst += block.outer.dst_step;
      src += block.outer.src_step;
    }
  }
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_ELEMENTS_H_
