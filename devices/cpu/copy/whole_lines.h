// Streaming copies by kernels that fill whole cache lines of dst in registers.
//
//   if (!WriteWholeLines(plan, dst, src, kernels, from_memory)) …         // by way of a buffer
//
// For transposes, deinterleaved and interleaved planes, and dense rows that follow each other.
// About twice as fast as by way of a buffer. The ends of a row, before its first whole line and
// after its last, go through the cache unless another row continues them.

#ifndef DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, if the rows of dst hold too few whole lines, or if this SIMD level has
// no kernel for their alignment. `dst` and `src` are the addresses of the first iteration of all
// loops; from_memory: see strips.h. The caller must call kernels.stream_done() before others read
// dst.
bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
