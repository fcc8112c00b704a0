// Streaming copies of rows that are dense on both sides and follow each other in dst without gaps.
//
//   if (!WriteJoinedRows(plan, dst, src, kernels)) …         // by way of a buffer
//
// A cache line in which one row ends and the next begins is assembled in a register from both.
// Where rows that follow each other in src belong to another loop than those in dst, a few rows are
// written before those that follow them in src, on processors that are faster so
// (CopyTuning::joined_rows).

#ifndef DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, for rows shorter than a line, for gaps in dst, and where this SIMD level
// has no such kernel. `dst` and `src` are where the first iteration of all loops is.
bool WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
