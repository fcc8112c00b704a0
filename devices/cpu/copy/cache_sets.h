// Which lines drive each other out of the nearest cache.
//
//   if (Collide(64, 4096)) …                     // 64 lines, each 4096 bytes after the one before

#ifndef DOVETAIL_DEVICES_CPU_COPY_CACHE_SETS_H_
#define DOVETAIL_DEVICES_CPU_COPY_CACHE_SETS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Its sets repeat after so many bytes, and each holds as many lines or a few more.
inline constexpr int64_t kSetPeriod = 4096;
inline constexpr int64_t kWays = 8;

// Whether so many lines at this distance fall into few sets, and drive each other out.
inline bool Collide(int64_t lines, int64_t pitch) {
  if (std::abs(pitch) < 64) return false;  // what lies in one line, or in the next
  // Next to a multiple of the period, sets follow each other slowly.
  const int64_t past = std::abs(pitch) % kSetPeriod, off = std::min(past, kSetPeriod - past);
  if (off < 64) return lines > kWays * (lines * off / 64 + 1);
  return lines * (pitch & -pitch) > kWays * kSetPeriod;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_CACHE_SETS_H_
