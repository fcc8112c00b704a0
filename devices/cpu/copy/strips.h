// The order in which a transpose past the cache goes through memory.
//
//   RunInStrips(plan, dst, src, [&](const Block& block, int64_t band) { kernel(block); });
//
// src is read along a few rows at a time, which the processor sees coming and fetches ahead, or
// else the kernel asks for; going down the rows, or along many, would halve the speed. And a strip
// of these rows is no longer than a page, so that the pages of dst, of which each column of the
// strip has its own, are still known when the next rows follow.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/memory_order.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Takes a block, and which band along its rows of dst it is in.
using BandKernel = absl::FunctionRef<void(const Block&, int64_t)>;

// All blocks of `plan`, a transpose whose rows in dst (loops[0]) are as long as whole lines, and
// which band along the row, of kMostLines at most, each of them is in: one band for a row of up to
// `short_row` bytes. `dst` and `src` are where the first turn of all loops is.
void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const MemoryOrder& order,
                 BandKernel kernel, int64_t short_row = 0);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
