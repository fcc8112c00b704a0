// The order in which a transpose past the cache goes through memory.
//
//   RunInStrips(plan, dst, src, order, from_memory, {}, kernel);
//
// src is read along a few rows at a time, which the processor sees coming and fetches ahead, or
// else the kernel asks for; going down the rows, or along many, would halve the speed. And a strip
// of these rows is a few pages long at most, so that the pages of dst, of which each column of the
// strip has its own, are still known when the next rows follow.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/memory_order.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {

using TransposeKernel = absl::FunctionRef<void(const Block&, const ColumnsBefore&)>;

// All blocks of `plan`, a transpose whose rows in dst (loops[0]) are as long as whole lines: each
// is a part of some rows, of MostLines() at most, or, where that is up to `short_row` bytes, whole
// ones. `before` is where the columns before those of a row are, for kernels that ask, whose lines
// are kept from one part of a row to the next. `dst` and `src` are where the first turn of all
// loops is; from_memory: src is farther away than the last cache.
void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const MemoryOrder& order,
                 bool from_memory, std::optional<int64_t> before, TransposeKernel kernel,
                 int64_t short_row = 0);

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIPS_H_
