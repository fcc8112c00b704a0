// The order in which a streaming transpose traverses memory.
//
//   RunInStrips(plan, dst, src, tuning, from_memory, {}, kernel);
//
// src is read along a band of rows (bands.h). Hardware prefetch follows them, or the kernel
// prefetches itself. Reading down the rows, or along too many rows, takes twice as long. A strip of
// a band is at most a few pages long: each of its columns is a row of dst on a page of its own, and
// these pages must still be in the TLB when the next band of the same columns follows.

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

// Calls `kernel` for all blocks of `plan`, a transpose whose rows in dst (loops[0]) have at least a
// line. A block is a part of some rows, at most MostLines() lines wide, or whole rows if these have
// at most `short_row` bytes. `before` is the source offset of the columns before a row, for kernels
// that need them (misaligned.h); such kernels carry each row's last, incomplete line to the next
// block of that row. `dst` and `src` are the addresses of the first iteration of all loops.
// from_memory: src is in memory, not in the last-level cache.
void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
                 bool from_memory, std::optional<int64_t> before, TransposeKernel kernel,
                 int64_t short_row = 0);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
