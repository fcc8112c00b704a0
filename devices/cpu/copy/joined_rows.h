// Streaming copies of rows that are dense in src and dst and contiguous with each other in dst.
//
//   if (!WriteJoinedRows(plan, dst, src, kernels)) …         // by way of a buffer
//
// A cache line that holds the end of a row and the start of the next is assembled in a register. If
// the rows that follow each other in src belong to another loop than those in dst, a few rows of
// dst are written before the rows that follow them in src, on processors where that is faster
// (CopyTuning::joined_rows).

#ifndef DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
#define DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, for rows shorter than a line, for gaps in dst, and if this SIMD level
// has no such kernel. `dst` and `src` are the addresses of the first iteration of all loops.
bool WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_JOINED_ROWS_H_
