// Transposes from registers with streaming stores, for long rows on both sides.
//
//   if (!StreamTranspose(plan, dst, src, kernels)) …         // tiles.h
//
// A panel of rows of src is read side by side, a strip of some KB of each, and prefetched in
// software. Each row of dst leaves in whole lines, at any alignment: a line that begins with
// elements of the columns before is assembled from them.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STREAMED_TRANSPOSE_H_
#define DOVETAIL_DEVICES_CPU_COPY_STREAMED_TRANSPOSE_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, if the plan is no transpose, or if rows are short. `dst` and `src` are
// the addresses of the first iteration of all loops. Call kernels.stream_done() afterwards.
bool StreamTranspose(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STREAMED_TRANSPOSE_H_
