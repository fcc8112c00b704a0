// Streaming transposes whose rows of dst are not aligned to cache lines, each in its own way.
//
//   if (!WriteContinued(plan, dst, src, kernels, from_memory) &&
//       !WriteMisaligned(plan, dst, src, kernels, from_memory)) …
//
// A line of dst is assembled from the columns before it and those in it: in registers where they
// hold whole lines, else in the nearest cache. That is nearly as fast as aligned rows. The ends of
// rows go through the cache, unless another row continues them.

#ifndef DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_
#define DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Long rows. False, and nothing done, for short ones, for elements that are not aligned, and where
// the level has no vectors. `dst` and `src` are where the first iteration of all loops is;
// from_memory: as in strips.h.
bool WriteMisaligned(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory);

// Rows as long as a line at least, that continue each other in dst without gaps. False for others,
// too.
bool WriteContinued(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                    bool from_memory);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_MISALIGNED_H_
