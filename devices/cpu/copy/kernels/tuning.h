// Block sizes and prefetch distances for copies larger than the cache, for each measured processor.
//
//   const CopyTuning& tuning = TuningOfThisProcessor();
//   if (tuning.prefetch_bytes > 0) …            // software prefetch pays here
//
// All values were measured on the processors named below. Other AMD processors use the values of
// Zen 5 or Zen 3; all other processors use those of Sapphire Rapids. Plain data; any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/x86_processor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

struct CopyTuning {
  // Transposes. A band is a set of rows of src that are read side by side: as many as fill
  // `band_bytes` of each row of dst, but at most `band_rows`. The kernel reads a strip of
  // `strip_bytes` of each row of a band before it starts the next band.
  int64_t band_bytes;
  int64_t band_rows;
  int64_t strip_bytes;
  // strip_bytes if the rows of dst are aligned to cache lines and src is in memory. And strip_bytes
  // if, in addition, elements are narrower than 8 bytes and the rows of src conflict in the cache,
  // so that squares are packed first.
  int64_t strip_bytes_at_lines;
  int64_t strip_bytes_packed;
  // The bytes that are read of each row of src before the next row, while as many following bytes
  // are prefetched; 0 if hardware prefetch is faster. And the target cache of most software
  // prefetches.
  int64_t prefetch_bytes;
  Cache prefetch_into;
  // prefetch_bytes as a total for all rows of a band, if src is in memory and the band's rows do
  // not conflict in the L1 cache (0: not used). If the rows of dst are also aligned to lines, bands
  // of elements of 4 bytes or more have the larger of `least_band_bytes` and `least_band_rows`.
  int64_t prefetch_bytes_of_band;
  int64_t least_band_bytes;
  int64_t least_band_rows;
  // Transposes to short rows that are contiguous in dst: bytes of each row of src that are packed
  // into a buffer, an even number of lines; 0: no packing (packed_runs.h).
  int64_t packed_bytes;
  // The narrowest element, in bytes, for which misaligned rows of dst are assembled in registers.
  // Narrower elements go through a buffer.
  int64_t joined_unit;
  // The size in bytes of the buffer for rows that cannot be written as whole lines from registers
  // (streamed.h), and the most rows of dst that share it.
  int64_t buffer_bytes;
  int64_t buffer_rows;
  // buffer_bytes if the rows of dst are short and contiguous.
  int64_t run_bytes;
  // True if rows that no tile kernel writes (strided or reversed elements of src) go through that
  // buffer. And the least bytes of such a row to be streamed without it.
  bool buffers_rows;
  int64_t made_row_bytes;
  // True if rows that are dense on both sides are copied in src order rather than dst order. And
  // how many bytes ahead rows that are not contiguous in src are prefetched (0: not at all).
  bool rows_as_in_src;
  int64_t prefetch_distance;
  // Misaligned dense rows that are contiguous in dst: the number of rows written before the rows
  // that follow the first of them in src; 0: all of them.
  int64_t joined_rows;
};

// Fourth-generation Xeon. Its hardware prefetchers follow about 64 rows of src.
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

// Fifth-generation EPYC. Its hardware prefetchers follow few rows of src, but it streams to many
// rows of dst as fast as to one.
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

// Fourth-generation EPYC. Differences from the fifth: the L1 cache accepts fewer prefetched lines
// at a time than the L2; reads from up to sixteen addresses are as fast as from one; shorter strips
// of packed tiles and four lines of complex128 are faster.
DOVETAIL_NOT_SHARED inline constexpr CopyTuning kZen4 = [] {
  CopyTuning tuning = kZen5;
  tuning.prefetch_into = Cache::kL2;
  tuning.strip_bytes_packed = 2048;
  tuning.least_band_rows = 16;
  tuning.made_row_bytes = 8192;
  tuning.joined_rows = 10;
  return tuning;
}();

// Third-generation EPYC. Differences from the fourth: long parts of a row are written faster than
// short ones, and the L2 cache, half the size, holds the prefetched lines of fewer rows. (Zen and
// Zen 2 use these values too; they were not measured.)
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

// The largest value of a member over all processors.
constexpr int64_t MostOf(int64_t CopyTuning::* member) {
  int64_t most = 0;
  for (const CopyTuning* tuning : kAllTunings) most = std::max(most, tuning->*member);
  return most;
}
inline constexpr int64_t kMostBufferBytes = MostOf(&CopyTuning::buffer_bytes);
inline constexpr int64_t kMostBufferRows = MostOf(&CopyTuning::buffer_rows);

// The values of the current processor.
inline const CopyTuning& TuningOfThisProcessor() {
#if defined(__x86_64__)
  const X86Processor& processor = ThisX86Processor();
  if (processor.is_amd && (processor.family == 0x17 || processor.family == 0x19)) {
    // (Zen 3 and Zen 4 are one family; only Zen 4 has AVX-512.)
    return processor.avx512 ? kZen4 : kZen3;
  }
  if (processor.is_amd) return kZen5;
#endif
  return kSapphireRapids;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_TUNING_H_
