#include "dovetail/devices/cpu/copy/direct_rows.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/rows_ahead.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a row that outweigh its ends, whose lines are written twice. More if a kernel
// writes the ends (CopyTuning::made_row_bytes).
constexpr int64_t kShortestRow = 384;

void WriteDenseRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t bytes = plan.loops[0].count * plan.unit();
  Loop loops[CopyPlan::kMaxLoops];
  Loop* const end = std::copy(plan.loops + 1, plan.loops + plan.rank, loops);
  if (kernels.tuning.rows_as_in_src) SortAsInSrc(loops, end);
  const bool is_dense = plan.rank == 1 || loops[0].src_step == bytes;
  const int64_t far = is_dense ? 0 : kernels.tuning.prefetch_distance / bytes;
  RowsAhead ahead(src, loops, plan.rank - 1, far);
  Odometer at(loops, plan.rank - 1);
  do {
    if (const char* const row = ahead.Next()) PrefetchRow(row, bytes, kernels.tuning.prefetch_into);
    WriteRow(dst + at.dst, src + at.src, bytes, kernels);
  } while (at.Next());
}

// Writes each row by `streaming`, except for its ends.
void WriteRowsBy(BlockKernel streaming, const CopyPlan& plan, char* dst, const char* src,
                 const Kernels& kernels) {
  const BlockKernel cached = EntryOf(kernels.cached, plan.kernel, plan.unit_log2);
  const Loop row = plan.loops[0];
  const int64_t unit = plan.unit(), line = kLine / unit;
  Odometer at(plan.loops + 1, plan.rank - 1);
  do {
    Block block{dst + at.dst, src + at.src, row, {1, 0, 0}};
    auto run = [&](BlockKernel kernel, int64_t count) {
      block.inner.count = count;
      if (count > 0) kernel(block);
      block.dst += count * row.dst_step;
      block.src += count * row.src_step;
    };
    const int64_t head = (-reinterpret_cast<uintptr_t>(block.dst) & (kLine - 1)) / unit;
    // One element is left to the cached kernel, because the last vectors may reach beyond the body.
    const int64_t body = (row.count - head - 1) / line * line;
    run(cached, head);
    run(streaming, body);
    run(cached, row.count - head - body);
  } while (at.Next());
}

}  // namespace

bool WriteDirectRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (plan.rank == 0 || !plan.GoesByRows()) return false;
  const int64_t bytes = plan.loops[0].count * plan.unit();
  if (plan.kernel == CopyKernel::kRows) {
    const bool is_lines = bytes % kLine == 0 && plan.RowsBeginAt(kLine, dst);
    if (bytes < kShortestRow && !is_lines) return false;
    WriteDenseRows(plan, dst, src, kernels);
    return true;
  }
  const BlockKernel streaming = EntryOf(kernels.streaming, plan.kernel, plan.unit_log2);
  const int64_t least =
      plan.kernel == CopyKernel::kFill ? kShortestRow : kernels.tuning.made_row_bytes;
  if (streaming == nullptr || bytes < least || !plan.RowsBeginAt(plan.unit(), dst)) return false;
  WriteRowsBy(streaming, plan, dst, src, kernels);
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
