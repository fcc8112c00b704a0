// Copies through the cache by rows that have gaps in src, and do not follow each other there, which
// a processor may not guess: each is asked for while those before it are copied.
//
//   if (!ExecuteAskingAhead(plan, dst, src, kernels)) …       // as ExecuteCached
//
// Every third column of a matrix with something between its rows, say.

#ifndef DOVETAIL_DEVICES_CPU_COPY_ROWS_ASKED_H_
#define DOVETAIL_DEVICES_CPU_COPY_ROWS_ASKED_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, for other kernels, where rows follow each other, are short, long or few,
// and where the processor does better by itself. `dst` and `src` are where the first turn of all
// loops is.
bool ExecuteAskingAhead(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_ROWS_ASKED_H_
