// Which lines evict each other from the nearest cache, and which are taken for each other there.
//
//   if (Collide(64, 4096)) …                     // 64 lines, each 4096 bytes after the one before
//   if (Alias<16>(dst, 4100, src, 4100)) …       // 16 x 16 float32, of 1025 x 1025

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_CACHE_SETS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_CACHE_SETS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Its sets repeat after so many bytes, and each holds as many lines or a few more.
inline constexpr int64_t kSetPeriod = 4096;
inline constexpr int64_t kWays = 8;

// How far so many bytes are from the nearest multiple of a period.
inline int64_t OffMultiple(int64_t period, int64_t bytes) {
  const int64_t past = std::abs(bytes) % period;
  return std::min(past, period - past);
}

// Whether so many lines at this distance fall into few sets, and evict each other. Next to a
// multiple of the period, or of a half or a quarter of it and so on, they fall in turn into one,
// two or four sets, and reach other ones only slowly.
inline bool Collide(int64_t lines, int64_t pitch) {
  if (std::abs(pitch) < 64) return false;  // what lies in one line, or in the next
  for (int64_t sets = 1; lines > kWays * sets; sets *= 2) {
    const int64_t off = OffMultiple(kSetPeriod / sets, pitch);
    if (lines > kWays * sets * (lines * off / 64 + 1)) return true;
  }
  return false;
}

// The same of rows of which a line's worth is read or written at a time: of those that lie off the
// lines, that is two of each.
inline bool RowsCollide(int64_t rows, int64_t pitch) {
  return Collide(pitch % 64 == 0 ? rows : 2 * rows, pitch);
}

// Whether so many rows at this distance, of some lines each, are more than the second cache holds
// in the sets that they fall into. Next to a multiple of the period, rows run into the sets of
// those before, and a cache that is just full is too small.
inline bool OverfillL2(int64_t rows, int64_t pitch) {
  constexpr int64_t kBytes = int64_t{1} << 20, kRowBytes = 512;
  const int64_t off = OffMultiple(kSetPeriod, pitch);
  if (off == 0 || rows * off > kRowBytes) return rows * (pitch & -pitch) > kBytes;
  const int64_t nearest = (std::abs(pitch) + kSetPeriod / 2) / kSetPeriod * kSetPeriod;
  return rows * (nearest & -nearest) >= kBytes;
}

// Whether what is read from a square of so many rows, of a line each, waits for what was written to
// the one before: processors take both for the same place where the lower twelve bits of their
// addresses are the same. One square is like all others in this where the pitches are one element,
// of 64 / kSide bytes, more than a multiple of 64 elements; and many of its rows are, next to
// multiples of large powers of two: rows of 1025 elements, say.
template <int64_t kSide>
bool Alias(const char* dst, int64_t dst_pitch, const char* src, int64_t src_pitch) {
  constexpr int64_t kPage = 4096, kRowsAtOnePlace = 8;
  constexpr int64_t kPeriod = kRowsAtOnePlace * kPage / kSide;
  const auto repeats = [](int64_t pitch) {
    return kSide * pitch % kPage == 64 && OffMultiple(kPeriod, pitch) < 64;
  };
  const int64_t apart = reinterpret_cast<intptr_t>(dst) - reinterpret_cast<intptr_t>(src);
  return repeats(dst_pitch) && repeats(src_pitch) && OffMultiple(kPeriod, apart) < 2 * 64;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_CACHE_SETS_H_
