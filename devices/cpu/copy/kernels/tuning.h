// Block sizes and prefetch distances of copies that are larger than the cache, for each processor
// that was measured.
//
//   const CopyTuning& tuning = TuningOfThisProcessor();
//   if (tuning.prefetch_bytes > 0) …            // software prefetch pays here
//
// All values were found by measuring on the processors named below. Other processors of AMD use
// those of Zen 5 or Zen 3, all others those of the first. Plain data; any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct CopyTuning {
  // Transposes. A band is a set of rows of src that are read side by side: as many as fill
  // `band_bytes` of each row of dst, and `band_rows` at most. The kernel reads `strip_bytes` of
  // each row of a band before it goes on to the next band.
  int64_t band_bytes;
  int64_t band_rows;
  int64_t strip_bytes;
  // strip_bytes where the rows of dst are aligned to cache lines and src lies in memory, not in a
  // cache; and where, besides, elements are narrower than 8 bytes and their rows conflict in the
  // cache, so that square tiles are gathered first.
  int64_t strip_bytes_at_lines;
  int64_t strip_bytes_packed;
  // What is read of each row of src before the next row's turn, while as much of what follows is
  // prefetched; 0 where hardware prefetch does better. And the cache that most software prefetches
  // go to.
  int64_t prefetch_bytes;
  Cache prefetch_into;
  // prefetch_bytes as a total of all rows of a band, where src lies in memory and the band's rows
  // do not conflict in the nearest cache (0: not used). If the rows of dst are aligned to lines,
  // bands of elements of 4 bytes and more are then the larger of `least_band_bytes` and
  // `least_band_rows`.
  int64_t prefetch_bytes_of_band;
  int64_t least_band_bytes;
  int64_t least_band_rows;
  // Transposes to short rows that follow each other in dst: bytes of each row of src that are
  // gathered in a buffer, an even number of lines; 0 where they are not (packed_runs.h).
  int64_t packed_bytes;
  // The narrowest element, in bytes, of which unaligned rows of dst are assembled in registers;
  // narrower ones go through a buffer.
  int64_t joined_unit;
  // The buffer for what cannot be written as whole lines from registers (streamed.h): its bytes,
  // and the most rows of dst that share it.
  int64_t buffer_bytes;
  int64_t buffer_rows;
  // buffer_bytes where the rows of dst are short and follow each other.
  int64_t run_bytes;
  // Whether rows that no tile kernel writes (every few elements of src, or its elements backwards)
  // go through that buffer; and their least bytes to be streamed without it.
  bool buffers_rows;
  int64_t made_row_bytes;
  // Whether rows that are dense on both sides are copied in the order in which they lie in src, not
  // in dst; and how many bytes ahead rows are prefetched that do not follow each other in src (0:
  // not at all).
  bool rows_as_in_src;
  int64_t prefetch_distance;
  // Dense rows that follow each other in dst, unaligned: so many are written before those that
  // follow the first of them in src; 0: all of them.
  int64_t joined_rows;
};

// Xeon of the fourth generation: its hardware prefetchers follow some 64 rows of src.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kSapphireRapids = {
    .band_bytes = 128,
    .band_rows = 64,
    .strip_bytes = 4096,
    .strip_bytes_at_lines = 4096,
    .strip_bytes_packed = 4096,
    .prefetch_bytes = 0,
    .prefetch_into = Cache::kL1,
    .prefetch_bytes_of_band = 0,
    .least_band_bytes = 128,
    .least_band_rows = 0,
    .packed_bytes = 0,
    .joined_unit = 4,
    .buffer_bytes = 32 << 10,
    .buffer_rows = 128,
    .run_bytes = 32 << 10,
    .buffers_rows = true,
    .made_row_bytes = 384,
    .rows_as_in_src = false,
    .prefetch_distance = 0,
    .joined_rows = 0,
};

// EPYC of the fifth generation: its hardware prefetchers follow few rows of src, but it streams to
// many rows of dst as fast as to one.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kZen5 = {
    .band_bytes = 256,
    .band_rows = 256,
    .strip_bytes = 4096,
    .strip_bytes_at_lines = 16 << 10,
    .strip_bytes_packed = 16 << 10,
    .prefetch_bytes = 512,
    .prefetch_into = Cache::kL1,
    .prefetch_bytes_of_band = 32 << 10,
    .least_band_bytes = 128,
    .least_band_rows = 0,
    .packed_bytes = 2048,
    .joined_unit = 1,
    .buffer_bytes = 64 << 10,
    .buffer_rows = 256,
    .run_bytes = 8 << 10,
    .buffers_rows = false,
    .made_row_bytes = 1024,
    .rows_as_in_src = true,
    .prefetch_distance = 8192,
    .joined_rows = 0,
};

// EPYC of the fourth generation: as the fifth, but the first cache takes fewer lines at a time than
// the second, up to sixteen places are read as fast as one, and shorter strips of gathered tiles
// and four lines of complex128 are faster.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kZen4 = [] {
  CopyTuning tuning = kZen5;
  tuning.prefetch_into = Cache::kL2;
  tuning.strip_bytes_packed = 2048;
  tuning.least_band_rows = 16;
  tuning.made_row_bytes = 8192;
  tuning.joined_rows = 10;
  return tuning;
}();

// EPYC of the third generation: as the fourth, but long pieces of a row are written faster than
// short ones, and the second cache, of half the size, holds what is prefetched of fewer rows. (Zen
// and Zen 2, which were not measured, use these values too.)
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kZen3 = [] {
  CopyTuning tuning = kZen4;
  tuning.band_bytes = 512;
  tuning.band_rows = 128;
  tuning.prefetch_bytes = 256;
  tuning.prefetch_bytes_of_band = 16 << 10;
  return tuning;
}();

DOVETAIL_NOT_SHARED inline constexpr const CopyTuning* kAllTunings[] = {&kSapphireRapids, &kZen5,
                                                                        &kZen4, &kZen3};

// The largest value of a member among all processors.
constexpr int64_t MostOf(int64_t CopyTuning::*member) {
  int64_t most = 0;
  for (const CopyTuning* tuning : kAllTunings) most = std::max(most, tuning->*member);
  return most;
}
inline constexpr int64_t kMostBufferBytes = MostOf(&CopyTuning::buffer_bytes);
inline constexpr int64_t kMostBufferRows = MostOf(&CopyTuning::buffer_rows);

// The values of the processor that this runs on.
inline const CopyTuning& TuningOfThisProcessor() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // for callers that run before the constructors of libgcc
  if (__builtin_cpu_is("amdfam17h") || __builtin_cpu_is("amdfam19h")) {
    // (Zen 4 is of the family of Zen 3, and the first with AVX-512.)
    return __builtin_cpu_supports("avx512f") ? kZen4 : kZen3;
  }
  if (__builtin_cpu_is("amd")) return kZen5;
#endif
  return kSapphireRapids;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
