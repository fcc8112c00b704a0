// Copies past the cache by kernels that write whole lines of 64 bytes straight from registers.
//
//   if (!WriteWholeLines(plan, dst, src, kernels)) …         // by way of a buffer
//
// Twice as fast as by way of a buffer, where the rows of dst lie in the same way to its lines: what
// comes before the first line of a row and after its last goes through the cache.

#ifndef DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, where the rows of dst hold too few whole lines or lie in different ways
// to them, or the level has no such kernel. `dst` and `src` are where the first turn of all loops
// is. kernels.stream_done() comes before others may look.
bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
