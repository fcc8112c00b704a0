// Streaming copies by kernels that fill whole cache lines of dst in registers.
//
//   if (!WriteWholeLines(plan, dst, src, kernels, from_memory)) …         // by way of a buffer
//
// About twice as fast as by way of a buffer. For transposes, deinterleaved and interleaved planes,
// and dense rows that follow each other. What comes before the first line of a row and after its
// last goes through the cache, unless another row continues it.

#ifndef DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, where the rows of dst hold too few whole lines, or are aligned in ways
// that this SIMD level has no kernel for. `dst` and `src` are where the first iteration of all
// loops is; from_memory: as in strips.h. The caller calls kernels.stream_done() before others may
// read dst.
bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
