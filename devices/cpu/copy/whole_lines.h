// Streaming copies by kernels that fill whole cache lines of dst in registers.
//
//   if (!WriteWholeLines(plan, dst, src, kernels)) …         // by way of a buffer
//
// For deinterleaved and interleaved planes. The ends of a row, before its first whole line and
// after its last, go through the cache.

#ifndef DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, if the rows of dst hold too few whole lines, or if this SIMD level has
// no kernel for their alignment. `dst` and `src` are the addresses of the first iteration of all
// loops. The caller must call kernels.stream_done() before others read
// dst.
bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
