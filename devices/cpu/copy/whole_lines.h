// Copies past the cache by kernels that write whole lines of 64 bytes straight from registers.
//
//   if (!WriteWholeLines(plan, dst, src, kernels, from_memory)) …         // by way of a buffer
//
// Twice as fast as by way of a buffer. Transposes, planes taken apart or put together, and rows
// that follow each other; what comes before the first line of a row and after its last goes through
// the cache, unless another row continues it.

#ifndef DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
#define DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_

#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, where the rows of dst hold too few whole lines or lie off them in ways
// that the level has no kernel for. `dst` and `src` are where the first turn of all loops
// is; from_memory: as in strips.h. kernels.stream_done() comes before others may look.
bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_WHOLE_LINES_H_
