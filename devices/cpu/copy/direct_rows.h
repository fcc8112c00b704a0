// Rows of dst that are written one by one, past the cache: their ends as usual, and what lies
// between them in whole lines.
//
//   if (!WriteDirectRows(plan, dst, src, kernels)) …         // through the cache
//
// Rows may lie in any way to the lines of 64 bytes, and to each other.

#ifndef DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Rows that are dense on both sides, and, where the level has a kernel for it, those of one
// element, of every second to fourth or in the opposite order. False, and nothing done, for others
// and for short ones. `dst` and `src` are where the first turn of all loops is.
bool WriteDirectRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_DIRECT_ROWS_H_
