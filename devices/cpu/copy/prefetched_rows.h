// Copies through the cache that prefetch: rows with gaps in src that do not follow each other there
// (every third column of a part of a matrix, say), which hardware prefetch does not follow.
//
//   if (!ExecutePrefetching(plan, dst, src, kernels)) …       // as ExecuteCached

#ifndef DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, for other kernels, for rows that follow each other, are short, long or
// few, and where hardware prefetch does better. `dst` and `src` are where the first iteration of
// all loops is.
bool ExecutePrefetching(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_
