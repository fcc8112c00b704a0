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

// The most cache lines of a dst row in one block of a streaming kernel: kMostLines is safe for
// every element size, MostLines() applies to elements of `unit` bytes.
inline constexpr int64_t kMostLines = 8;
constexpr int64_t MostLines(int64_t unit) { return unit < 4 ? kMostLines : 2 * kMostLines; }

// `before` is the source offset, from the block's first column, of as many columns as a line has
// elements, which precede the block's columns in dst. `scratch` is a buffer of kScratchBytes that
// begins at a line.
using StreamTransposeKernel = void (*)(const Block&, int64_t before, char* scratch);
inline constexpr int64_t kScratchBytes = 2 * (1 + MostLines(1)) * 64 * 64;

// One function for each kernel and element size; the index is log2 of the element's bytes. Each
// comment states what the kernel requires of the block's loops; "dense" means steps of one element.
//
// A kernel may read any byte between the first and the last byte of its block in src. In dst it may
// overwrite bytes of later groups or rows; these are rewritten. It never changes bytes between
// rows.
struct BlockKernels {
  // inner dense on both sides.
  BlockKernel rows[kUnitSizes];
  // inner dense in dst; src does not advance (one repeated element).
  BlockKernel fill[kUnitSizes];
  // inner dense in dst, outer dense in src.
  BlockKernel transpose[kUnitSizes];
  // inner dense in dst, outer in steps of a few elements in src.
  BlockKernel transpose_gaps[kUnitSizes];
  // inner dense on both sides, 3 to 15 bytes long; outer follows it in dst without gaps; `rows`
  // close together in src, but not overlapping.
  BlockKernel transpose_groups[kUnitSizes];
};

struct Kernels {
  // Kernels with ordinary stores. If a level lacks the instructions for a kernel, the entry copies
  // element by element or is null.
  BlockKernels cached;
  // Copies all loops by permutes of vectors (permutation.h), through the cache or with streaming
  // stores. False, with nothing done, if copying by elements is cheaper, or if dst has gaps between
  // elements and stores are streaming or the level has no masked ones. Null if there are no
  // shuffles.
  bool (*permute)(int64_t unit, const Loop* loops, int rank, char* dst, const char* src,
                  bool stream);
  // A transpose with streaming stores. Writes every line of dst that ends in the block's columns;
  // the first line of a row that does not begin at a line starts with the columns `before`. inner
  // spans 1 to MostLines() lines, outer at least 16 bytes of each row of src. If the columns do not
  // fill their last line, it is also written in the rows that end in it. Elements must be aligned.
  // Null if there are no vectors.
  StreamTransposeKernel stream_transpose[kUnitSizes];
  // Streams dense rows that are contiguous in dst: writes every line that ends in them. If dst is
  // not aligned to a line, the first line is completed with the bytes before end_before, and rows
  // must have at least 64 bytes. Also prefetches as many rows from `later` on, unless that is null.
  // Null if the level gains nothing by it.
  void (*join_rows)(char* dst, const char* src, const char* end_before, int64_t bytes, int64_t rows,
                    int64_t src_step, const char* later);
  int64_t joined_bytes;  // the shortest row, in bytes (64 or more), for which join_rows is faster
  // Streams lines of 64 bytes to dst, which must be aligned to 64. Call stream_done() after the
  // last call and before other threads read the result.
  void (*stream)(char* dst, const char* src, int64_t lines);
  void (*stream_done)();
  // The values of this processor, at every level.
  CopyTuning tuning = kSapphireRapids;
};

// Null where this program or machine has no such level.
const Kernels* KernelsOf(SimdLevel level);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_H_
