// Streaming copies of rows that are dense on both sides, and of repeated elements.
//
//   if (!StreamRows(plan, dst, src, kernels)) …         // through the cache
//
// Rows have any alignment and any distance. Rows that continue each other in dst share the line
// between them; other rows' ends go through the cache.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STREAMED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_STREAMED_ROWS_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, for other plans and for short rows. `dst` and `src` are the addresses
// of the first iteration of all loops. Call kernels.stream_done() afterwards.
bool StreamRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STREAMED_ROWS_H_
