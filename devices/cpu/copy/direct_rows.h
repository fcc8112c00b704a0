// Streaming copies of long rows of dst, one by one. Whole cache lines are streamed; the ends of
// each row go through the cache.
//
//   if (!WriteDirectRows(plan, dst, src, kernels)) …         // through the cache
//
// Rows have any alignment and any distance.

#ifndef DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// For rows that are dense in src and dst. If this SIMD level has a streaming kernel for them, also
// for rows that repeat one element, that take every second to fourth one, and for reversed rows.
// False, with nothing done, for other rows and for short ones. `dst` and `src` are the addresses of
// the first iteration of all loops.
bool WriteDirectRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
