// Streaming transposes whose rows of dst are short and follow each other, and whose reads conflict
// in the caches: the reversal of five dimensions of powers of two, say.
//
//   if (auto buffer = BufferForRuns(plan, tuning, off_lines)) {  // else in strips
//     RunPacked(plan, dst, src, tuning, before, kernel, buffer.get());
//   }
//
// Row by row, each line of dst would be written alone, and the rows of src for it, which lie whole
// pages apart, would evict each other before they are read again. So a piece of each row of src is
// copied to one half of a buffer, while the other half is transposed: runs of several lines of dst
// at a time.

#ifndef DOVETAIL_DEVICES_CPU_COPY_PACKED_RUNS_H_
#define DOVETAIL_DEVICES_CPU_COPY_PACKED_RUNS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Null where `tuning` does not use one, rows are long, nothing continues them, they do not
// conflict, or there is no memory. off_lines: the rows of dst are not aligned to lines; a line's
// worth of columns more is then read for each part of a run.
std::unique_ptr<char[]> BufferForRuns(const CopyPlan& plan, const CopyTuning& tuning,
                                      bool off_lines);

// Runs a plan with such a buffer, or some iterations of its loops but the first two. `before` is
// where the columns before those of a run are in src; `dst`, `src` and `kernel` are as for
// RunInStrips.
void RunPacked(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
               std::optional<int64_t> before, TransposeKernel kernel, char* buffer);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PACKED_RUNS_H_
