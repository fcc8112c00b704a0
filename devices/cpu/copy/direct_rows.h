// Streaming copies of long rows of dst, one by one: whole cache lines are streamed, the ends of
// each row go through the cache.
//
//   if (!WriteDirectRows(plan, dst, src, kernels)) …         // through the cache
//
// Rows may be aligned in any way, and lie anywhere.

#ifndef DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Rows that are dense on both sides, and, where this SIMD level has a streaming kernel for them,
// those of one element, of every second to fourth one, and reversed ones. False, and nothing done,
// for others and for short ones. `dst` and `src` are where the first iteration of all loops is.
bool WriteDirectRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
