// Transposes from registers with streaming stores, for long rows on both sides.
//
//   if (!StreamTranspose(plan, dst, src, kernels)) …         // tiles.h
//
// Some rows of src are read side by side, 16 KB of each before the next ones, and what follows is
// prefetched. Each row of dst is written in whole lines, wherever it begins: a line that also holds
// elements of the columns before is assembled from both.

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
