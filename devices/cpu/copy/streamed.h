// Copies that are larger than the cache, by streaming (non-temporal) stores.
//
//   if (!ExecuteStreamed(plan, dst, src, kernels, StreamFrom())) …      // through the cache
//
// A normal store to a part of a cache line reads the line first, and a large copy evicts everything
// else from the cache. Streaming stores avoid both, but only if they fill whole lines of 64 bytes.
// There are three ways, tried in this order:
//
//   whole_lines.h   kernels whose registers hold whole lines of dst
//   direct_rows.h   long rows, whose ends go through the cache
//   this file       blocks in a small buffer, filled by the kernels for copies through the cache.
//                   The buffer's rows are streamed line by line. A row's last, incomplete line
//                   stays in the buffer for the row's next block.
//
// Rows of dst may start at any byte.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_
#define DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/stream_threshold.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, if no way fits or the copy is too small for it. `dst` and `src` are the
// addresses of the first iteration of all loops.
bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     const StreamThresholds& from);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_
