// Transposes past the cache whose rows of dst are short, and continued by a loop, while what is
// read for them collides in the caches.
//
//   if (RunGathered(plan, dst, src, before, kernel)) return;    // else in strips
//
// Written row by row, each line of dst would leave alone; and the rows of src for several, which
// lie at multiples of a page from each other, drive each other out before they are used. So some of
// each row of src is copied to a buffer, row after row, while what the buffer's other half holds is
// written, a run of several lines of dst at a time.

#ifndef DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_
#define DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_

#include <cstdint>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// False, and nothing done, where rows are long, nothing continues them or they do not collide, or
// without memory for the buffer. `plan`, `dst`, `src`, `before` and `kernel` are as for
// RunInStrips.
bool RunGathered(const CopyPlan& plan, char* dst, const char* src, std::optional<int64_t> before,
                 TransposeKernel kernel);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_
