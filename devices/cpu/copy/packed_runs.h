// Streaming transposes to short, contiguous rows of dst whose reads conflict in the caches.
// Example: the reversal of five dimensions of powers of two.
//
//   if (auto buffer = BufferForRuns(plan, tuning, off_lines)) {  // else in strips
//     RunPacked(plan, dst, src, tuning, before, kernel, buffer.get());
//   }
//
// Row by row, each line of dst would be written alone, and its rows of src, which are whole pages
// apart, would evict each other before they are read again. So a part of each row of src is packed
// into one half of a buffer while the other half is transposed, to runs of several lines of dst.

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

// Null if `tuning` uses no buffer, if rows are long, do not continue each other or do not conflict,
// or if there is no memory. off_lines: the rows of dst are not aligned to lines, so that each part
// of a run reads one more line of columns.
std::unique_ptr<char[]> BufferForRuns(const CopyPlan& plan, const CopyTuning& tuning,
                                      bool off_lines);

// Runs a plan with such a buffer, or with fewer iterations of loops[2] and later loops. `before` is
// the source offset of the columns before a run. `dst`, `src` and `kernel` as for RunInStrips.
void RunPacked(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
               std::optional<int64_t> before, TransposeKernel kernel, char* buffer);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_PACKED_RUNS_H_
