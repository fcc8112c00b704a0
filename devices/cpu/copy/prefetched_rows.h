// Copies through the cache with software prefetch, for rows that have gaps in src and do not follow
// each other there. Example: every third column of a part of a matrix. Hardware prefetch does not
// find such rows.
//
//   if (!ExecutePrefetching(plan, dst, src, kernels)) …       // as ExecuteCached

#ifndef DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, for other kernels, for rows that follow each other, for short, long or
// few rows, and if hardware prefetch is faster. `dst` and `src` are the addresses of the first
// iteration of all loops.
bool ExecutePrefetching(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PREFETCHED_ROWS_H_
