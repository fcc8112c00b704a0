// The order in which a transpose past the cache goes through memory.
//
//   RunInStrips(plan, dst, src, kernels.past.transpose[plan.unit_log2]);
//
// src is read along a few rows at a time, which the processor sees coming and fetches ahead; going
// down the rows, or along many, would halve the speed. And a strip of these rows is no longer than
// a page, so that the pages of dst, of which each column of the strip has its own, are still known
// when the next rows follow.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_

#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// All blocks of `plan`, which is a transpose whose rows in dst (loops[0]) are whole lines. `dst`
// and `src` are where the first turn of all loops is.
void RunInStrips(const CopyPlan& plan, char* dst, const char* src, BlockKernel kernel);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
