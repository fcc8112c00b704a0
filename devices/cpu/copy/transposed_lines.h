// Transposes past the cache whose rows in dst are whole lines of 64 bytes.
//
//   if (MakesWholeLines(plan, dst, kernels)) WriteTransposedLines(plan, dst, src, kernels);
//
// Such a transpose needs no buffer: a line is put together in registers from as many rows of src as
// it has elements, and written at once. What counts is the order. src is read along a few rows at a
// time, which the processor sees coming and fetches ahead; going down the rows, or along many,
// would halve the speed. And a strip of these rows is no longer than a page, so that the pages of
// dst, of which each column of the strip has its own, are still known when the next rows follow.

#ifndef DOVETAIL_DEVICES_CPU_COPY_TRANSPOSED_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_TRANSPOSED_LINES_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// `dst` is where the first turn of all loops is.
bool MakesWholeLines(const CopyPlan& plan, const char* dst, const Kernels& kernels);

// For a plan of which MakesWholeLines is true. kernels.stream_done() comes before others may look.
void WriteTransposedLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_TRANSPOSED_LINES_H_
