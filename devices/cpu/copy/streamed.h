// Copies that are larger than the cache, by streaming (non-temporal) stores.
//
//   if (!ExecuteStreamed(plan, dst, src, kernels, StreamFrom())) …      // through the cache
//
// A normal store to a part of a cache line reads the line first, and a large copy evicts everything
// else from the cache. Streaming stores avoid both, but only if they fill whole lines of 64 bytes.
// There are three ways to that, tried in this order:
//
//   whole_lines.h   kernels whose registers hold whole lines of dst
//   direct_rows.h   long rows, whose ends go through the cache
//   this file       blocks that are first copied to a small buffer by the kernels for copies
//   through
//                   the cache; its rows are then streamed line by line, and what does not fill a
//                   row's last line waits in the buffer for the row's next block
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

// False, and nothing done, where no such way fits, or the copy is too small for the one that does.
// `dst` and `src` are where the first iteration of all loops is.
bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     const StreamThresholds& from);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STREAMED_H_
