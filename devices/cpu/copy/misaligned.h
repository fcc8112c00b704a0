// Streaming transposes for rows of dst that are not aligned to cache lines.
//
//   if (!WriteContinued(plan, dst, src, kernels, from_memory) &&
//       !WriteMisaligned(plan, dst, src, kernels, from_memory)) …
//
// Each line of dst is assembled from the columns before the block and those in it: in registers if
// these hold whole lines, else in a buffer in the L1 cache. That is nearly as fast as aligned rows.
// The ends of rows go through the cache, unless another row continues them.

#ifndef DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_
#define DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Writes long rows. False, with nothing done, for short rows, for misaligned elements, and if the
// level has no vectors. `dst` and `src` are the addresses of the first iteration of all loops.
// from_memory: see strips.h.
bool WriteMisaligned(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory);

// Writes rows of at least a line that are contiguous in dst. False, with nothing done, also for all
// other rows.
bool WriteContinued(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                    bool from_memory);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_
