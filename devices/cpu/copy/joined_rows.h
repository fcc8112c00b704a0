// Rows that are dense on both sides and follow each other in dst without gaps, past the cache.
//
//   if (!WriteJoinedRows(plan, dst, src, kernels)) …         // by way of a buffer
//
// Where a row ends within a line of 64 bytes, that line is put together in a register from the end
// of the row and the beginning of the next. Where rows of src follow each other in another loop
// than those of dst, a few are written before those that follow them in src, if that suits the
// processor (MemoryOrder::joined_rows).

#ifndef DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, for rows shorter than a line, gaps, bytes that are no multiple of 4, and
// where the level has no such kernel. `dst` and `src` are where the first turn of all loops is.
bool WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
