// Copies element by element, by any number of loops with any steps.
//
//   CopyAllElements<4>(dst, src, loops, rank);         // elements of 4 bytes

#ifndef DOVETAIL_DEVICES_CPU_COPY_ALL_ELEMENTS_H_
#define DOVETAIL_DEVICES_CPU_COPY_ALL_ELEMENTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"
#include "dovetail/devices/cpu/copy/kernels/elements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// For three loops or more. The innermost has kCount iterations, so few that calling a kernel would
// take longer than its work. The second loop runs in chunks whose lines of dst stay in the L1 cache
// until the outer loops return to them. If src reaches beyond the L2 cache, its lines are
// prefetched some iterations of the third loop ahead: they are in too many places for hardware
// prefetch.
template <int kUnit, int kCount>
void CopyShortLines(char* dst, const char* src, const Loop* loops, int rank) {
  constexpr int64_t kFar = 1 << 20, kAhead = 8;
  const Loop inner = loops[0], all = loops[1], third = loops[2];
  int64_t reach = 0;
  for (int i = 0; i < rank; ++i) reach += (loops[i].count - 1) * std::abs(loops[i].src_step);
  const int64_t prefetched = reach >= kFar ? kCount : 0;
  const int64_t chunk = Collide(all.count, all.dst_step) ? kWays : all.count;
  for (int64_t i = 0; i < all.count; i += chunk) {
    const Loop outer{std::min(chunk, all.count - i), all.dst_step, all.src_step};
    Odometer at(loops + 3, rank - 3);
    do {
      char* to = dst + i * all.dst_step + at.dst;
      const char* from = src + i * all.src_step + at.src;
      for (int64_t k = 0; k < third.count; ++k) {
        for (int64_t j = 0; j < prefetched; ++j) {
          PrefetchLine(from + kAhead * third.src_step + j * inner.src_step, Cache::kL1);
        }
        CopyLines<kUnit, kCount>(to, from, inner, outer);
        to += third.dst_step;
        from += third.src_step;
      }
    } while (at.Next());
  }
}

// The most iterations of an innermost loop that is unrolled.
inline constexpr int64_t kMostUnrolled = 16;

template <int kUnit, size_t... kLess>
constexpr auto ShortLines(std::index_sequence<kLess...>) {
  return std::array{&CopyShortLines<kUnit, kLess + 1>...};
}

template <int kUnit>
void CopyAllElements(char* dst, const char* src, const Loop* loops, int rank) {
  Loop three[] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  if (rank < 3) {
    std::copy(loops, loops + rank, three);
    loops = three;
    rank = 3;
  }
  if (loops[0].count <= kMostUnrolled) {
    constexpr auto kByCount = ShortLines<kUnit>(std::make_index_sequence<kMostUnrolled>());
    return kByCount[loops[0].count - 1](dst, src, loops, rank);
  }
  RunBlocks(CopyElements<kUnit>, 2, loops, rank, dst, src);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_ALL_ELEMENTS_H_
