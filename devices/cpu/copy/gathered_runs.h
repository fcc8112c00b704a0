// Transposes past the cache whose rows of dst are short, and continued by a loop, while what is
// read for them collides in the caches.
//
//   if (auto buffer = BufferForRuns(plan, order, off_lines)) {  // else in strips
//     RunGathered(plan, dst, src, order, before, kernel, buffer.get());
//   }
//
// Written row by row, each line of dst would leave alone; and the rows of src for several, which
// lie at multiples of a page from each other, drive each other out before they are used. So some of
// each row of src is copied to a buffer, row after row, while what the buffer's other half holds is
// written, a run of several lines of dst at a time.

#ifndef DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_
#define DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

// Null where `order` has none, rows are long, nothing continues them or they do not collide, or
// without memory.
// Off the lines, as many more rows of src as a line has columns are read for each part of a run.
std::unique_ptr<char[]> BufferForRuns(const CopyPlan& plan, const MemoryOrder& order,
                                      bool off_lines);

// All of a plan with such a buffer, or of some turns of its loops but the first two. `before` is
// where the columns are that come before those of a run; `dst`, `src` and `kernel` are as for
// RunInStrips.
void RunGathered(const CopyPlan& plan, char* dst, const char* src, const MemoryOrder& order,
                 std::optional<int64_t> before, TransposeKernel kernel, char* buffer);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_GATHERED_RUNS_H_
