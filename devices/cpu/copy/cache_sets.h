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

// How far a pitch is from the next multiple of `period`.
inline int64_t OffMultiple(int64_t pitch, int64_t period) {
  const int64_t past = std::abs(pitch) % period;
  return std::min(past, period - past);
}

// Whether so many rows at this distance, of a line's worth each, fall into few sets, and drive each
// other out.
inline bool Collide(int64_t rows, int64_t pitch) {
  if (std::abs(pitch) < 64) return false;  // what lies in one line, or in the next
  // Next to a multiple of the period, or of half of it, sets follow each other slowly, and a row
  // lies in two of them.
  for (const int64_t places : {1, 2}) {
    const int64_t off = OffMultiple(pitch, kSetPeriod / places);
    if (off > 0 && off < 64) return 2 * rows > places * kWays * (rows * off / 64 + 2);
  }
  return rows * (pitch & -pitch) > kWays * kSetPeriod;
}

// Whether what is read from a square of `side` rows, of a line each, waits for what was written to
// the one before: processors take both for the same place where the lower twelve bits of their
// addresses are the same. That holds for all squares where the pitches are 64 / `side` bytes more
// than a multiple of as many lines, and for many of a square's rows next to multiples of large
// powers of two: rows of 1025 elements, say.
inline bool Alias(const char* dst, int64_t dst_pitch, const char* src, int64_t src_pitch,
                  int64_t side) {
  constexpr int64_t kPage = 4096, kRowsAtOnePlace = 8;
  const int64_t period = kRowsAtOnePlace * kPage / side;
  const auto repeats = [&](int64_t pitch) {
    return side * pitch % kPage == 64 && OffMultiple(pitch, period) < 64;
  };
  return repeats(dst_pitch) && repeats(src_pitch) && OffMultiple(dst - src, period) < 2 * 64;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_CACHE_SETS_H_
