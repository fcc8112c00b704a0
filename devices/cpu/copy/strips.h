// The order in which a streaming transpose goes through memory.
//
//   RunInStrips(plan, dst, src, tuning, from_memory, {}, kernel);
//
// src is read along a band of rows (bands.h), which hardware prefetch follows, or else the kernel
// prefetches by itself; reading down the rows, or along very many, takes twice as long. A strip of
// a band is a few pages long at most: each of its columns is a row of dst on a page of its own, and
// these pages are to be in the TLB still when the next band of the same columns follows.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

using TransposeKernel = absl::FunctionRef<void(const Block&, const ColumnsBefore&)>;

// Calls `kernel` for all blocks of `plan`, a transpose whose rows in dst (loops[0]) have a line's
// bytes at least. A block is a part of some rows, of MostLines() lines at most, or whole rows if
// these have no more than `short_row` bytes. `before` is where the columns before those of a row
// are in src, for kernels that need them (misaligned.h); these keep each row's last, incomplete
// line for the next block of that row. `dst` and `src` are where the first iteration of all loops
// is; from_memory: src is farther away than the last-level cache.
void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
                 bool from_memory, std::optional<int64_t> before, TransposeKernel kernel,
                 int64_t short_row = 0);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
