// Predicts which cache lines evict each other from the L1 cache, and which accesses suffer from 4K
// aliasing.
//
//   if (Collide(64, 4096)) …                     // 64 lines at a distance of 4096 bytes
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

// The L1 cache's sets repeat after kSetPeriod bytes. Each set holds kWays lines, or a few more.
inline constexpr int64_t kSetPeriod = 4096;
inline constexpr int64_t kWays = 8;

// The distance of `bytes` from the nearest multiple of `period`.
inline int64_t OffMultiple(int64_t period, int64_t bytes) {
  const int64_t past = std::abs(bytes) % period;
  return std::min(past, period - past);
}

// True if `lines` lines, `pitch` bytes apart, fall into so few L1 sets that they evict each other.
// If the pitch is close to a multiple of the set period (or of a half or a quarter of it, and so
// on), the lines fall into one set (two, four) and reach further sets only slowly.
inline bool Collide(int64_t lines, int64_t pitch) {
  if (std::abs(pitch) < 64) return false;  // neighbours share a line or use adjacent lines
  for (int64_t sets = 1; lines > kWays * sets; sets *= 2) {
    const int64_t off = OffMultiple(kSetPeriod / sets, pitch);
    if (lines > kWays * sets * (lines * off / 64 + 1)) return true;
  }
  return false;
}

// Collide for rows that are accessed 64 bytes at a time. A misaligned row touches two lines.
inline bool RowsCollide(int64_t rows, int64_t pitch) {
  return Collide(pitch % 64 == 0 ? rows : 2 * rows, pitch);
}

// True if loads of a square (kSide rows of one line) wait for stores to the previous square because
// of 4K aliasing: processors compare only the lower twelve bits of the addresses. Every square
// aliases in the same way if both pitches are one element (64 / kSide bytes) more than a multiple
// of 64 elements. Many rows of a square alias if the pitches are also close to multiples of large
// powers of two, such as rows of 1025 elements.
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
