// The kernels of each SIMD level, as tables of functions.
//
//   const Kernels& kernels = KernelsOf(BestSimdLevel());
//   kernels.cached.transpose[2](block);                   // elements of 1 << 2 bytes
//
// Threads: any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_H_

#include <cstdint>

#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// The cache lines of each row of dst in a block of a streaming kernel: kMostLines for elements of
// any size, up to MostLines() for those of `unit` bytes.
inline constexpr int64_t kMostLines = 8;
constexpr int64_t MostLines(int64_t unit) { return unit < 4 ? kMostLines : 2 * kMostLines; }

using MisalignedKernel = void (*)(const Block&, const ColumnsBefore&);

// By the logarithm of the element's bytes. Each says what it needs of a block's loops; "dense": in
// steps of one element. A kernel may read whatever lies between the first and the last byte of its
// block in src, and may write in dst, beyond a group or a row, what it writes again later; it never
// changes bytes between rows.
struct BlockKernels {
  // inner dense on both sides.
  BlockKernel rows[kUnitSizes];
  // inner dense in dst, one element in src.
  BlockKernel fill[kUnitSizes];
  // inner dense in dst, outer dense in src.
  BlockKernel transpose[kUnitSizes];
  // inner dense in dst, outer in steps of a few elements in src.
  BlockKernel transpose_gaps[kUnitSizes];
  // inner dense on both sides, of 3 to 15 bytes; outer follows it in dst; rows near each other in
  // src, but not overlapping.
  BlockKernel transpose_groups[kUnitSizes];
  // inner dense in dst, outer (or one iteration) dense in src and within inner's step there, which
  // is of either sign; or inner reversed in src.
  BlockKernel deinterleave[kUnitSizes];
  // inner dense in dst, outer follows it there and is dense or reversed in src.
  BlockKernel interleave[kUnitSizes];
  // inner dense in dst, and within kLaneBytes on both sides; outer in steps of kLaneBytes at most
  // in dst, not of 0 in src; rows anywhere.
  BlockKernel permute[kUnitSizes];
  // inner dense in dst, in steps of WidestGap bytes at most, forwards, in src.
  BlockKernel gather[kUnitSizes];
  // inner in steps of WidestGap bytes at most in dst, dense or one element in src.
  BlockKernel scatter[kUnitSizes];
};

struct Kernels {
  // Through the cache. Where a level has no instructions for a kernel, its entry copies element by
  // element, or is null.
  BlockKernels cached;
  // By streaming stores of whole cache lines; null where a level gains nothing by them. dst and all
  // its rows are aligned to lines, or to 16 bytes for `interleave`, which then stores 16 bytes at a
  // time. A transpose reads 16 bytes of each row of src at least, for MostLines() lines of a row of
  // dst at most. Where not all planes are deinterleaved, the others are read too, up to the end of
  // the last vector.
  BlockKernels streaming;
  // Streaming transposes whose rows of dst are not aligned to lines. Of each row, writes the lines
  // from the one on in which the block's part of the row begins, as many as that part has bytes
  // for: the first begins with the end of the columns before. inner has the bytes of 1 to
  // MostLines() lines, outer 16 bytes of each row of src at least. If the columns do not fill their
  // last line, none are kept, and that line is written too in those rows that end in it. Elements
  // are aligned. Null where there are no vectors.
  MisalignedKernel misaligned[kUnitSizes];
  // Streams dense rows that follow each other in dst: every line that ends in them. If dst lies
  // within a line, that begins with the bytes before end_before, and rows have 64 bytes or more.
  // Meanwhile prefetches as many rows from `later` on, unless that is null. Null where the level
  // gains nothing by it.
  void (*join_rows)(char* dst, const char* src, const char* end_before, int64_t bytes, int64_t rows,
                    int64_t src_step, const char* later, Cache prefetch_into);
  int64_t joined_bytes;  // the least bytes of a row, 64 or more, for which join_rows is faster
  // Streams lines of 64 bytes; dst is aligned to 64. stream_done() follows the last of them, before
  // other threads may read what was written.
  void (*stream)(char* dst, const char* src, int64_t lines);
  void (*stream_done)();
  // This processor's, whatever the level.
  CopyTuning tuning = kSapphireRapids;
};

// Null where this program or machine has no such level.
const Kernels* KernelsOf(SimdLevel level);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_H_
