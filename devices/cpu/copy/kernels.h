// The kernels of each level of vector instructions.
//
//   const Kernels& kernels = KernelsOf(BestSimdLevel());
//   kernels.cached.transpose[2](block);                   // elements of 1 << 2 bytes
//
// Threads: any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_

#include <cstdint>

#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/memory_order.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Of a row of dst, in a block that goes past the cache: so many of elements of any size, and up to
// MostLines() of those of `unit` bytes.
inline constexpr int64_t kMostLines = 8;
constexpr int64_t MostLines(int64_t unit) { return unit < 4 ? kMostLines : 2 * kMostLines; }

using StaggeredKernel = void (*)(const Block&, const ColumnsBefore&);

// By the logarithm of the size of an element.
struct BlockKernels {
  BlockKernel rows[kUnitSizes];            // inner dense on both sides
  BlockKernel fill[kUnitSizes];            // inner dense in dst, and one element in src
  BlockKernel transpose[kUnitSizes];       // inner dense in dst, outer dense in src
  BlockKernel transpose_gaps[kUnitSizes];  // the same, but outer steps a few elements in src
  // inner dense on both sides and a lane at most, outer follows it in dst, rows near each other in
  // src
  BlockKernel transpose_groups[kUnitSizes];
  BlockKernel take_apart[kUnitSizes];    // inner dense in dst, outer (or 1) dense in src and within
                                         // inner's step there, forwards or back; or inner steps
                                         // back by 1 in src
  BlockKernel put_together[kUnitSizes];  // inner and outer dense in dst, outer dense in src,
                                         // forwards or back
  BlockKernel regroup[kUnitSizes];       // inner dense in dst, and within kLaneBytes on both sides;
                                         // outer steps as many at most in dst, and not 0 in src;
                                         // rows of them in any places
  BlockKernel collect[kUnitSizes];       // inner dense in dst, and steps WidestGap bytes at most,
                                         // forwards, in src
  BlockKernel spread[kUnitSizes];        // inner steps WidestGap bytes at most in dst, and is
                                         // dense in src or stands still there
};

struct Kernels {
  // Through the cache. What a level has no instructions for copies element by element: every entry
  // works for every block that its comment allows.
  BlockKernels cached;
  // Past the cache, in whole lines: dst lies at one, and so does every row of it; at a multiple of
  // 16 bytes where planes are put together, which then fill lines by turns. (A transpose takes 16
  // bytes of each row of src at least, for MostLines() of dst at most. Where not all planes are
  // taken apart, the others are read as well, up to the last vector's end.) Null where a level
  // gains nothing by it.
  BlockKernels past;
  // Transposes past the cache whose rows of dst lie in their own ways to the lines. Writes, of each
  // row, the lines from the one on in which the block's part of the row begins, as many as that
  // part has bytes for: the first begins with the end of the columns before. inner takes the bytes
  // of 1 to MostLines() lines, outer at least 16 of each row of src. Where the columns do not fill
  // their last line, none are kept, and it is written too in those rows that lie so late that it
  // ends in them. Elements are aligned. Null where there are no vectors.
  StaggeredKernel staggered[kUnitSizes];
  // Rows that follow each other in dst, past the cache: writes every line that ends in them. If dst
  // lies within one, that begins with the bytes before end_before, and rows have 64 bytes or more.
  // Meanwhile asks for as many rows from `later` on, if that is not null, into that cache. Null
  // where the level gains nothing by it.
  void (*join_rows)(char* dst, const char* src, const char* end_before, int64_t bytes, int64_t rows,
                    int64_t src_step, const char* later, Cache asked_into);
  int64_t joined_bytes;  // of a row at least, 64 or more, for it to gain by that
  // Writes lines of 64 bytes past the cache; dst is aligned to 64. Done() follows the last of them,
  // before others may look.
  void (*stream)(char* dst, const char* src, int64_t lines);
  void (*stream_done)();
  // This processor's, whatever the level.
  MemoryOrder order = kFollowsManyRows;
};

// Null where this program or machine has no such level.
const Kernels* KernelsOf(SimdLevel level);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_H_
