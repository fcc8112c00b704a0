#include "dovetail/devices/cpu/copy/whole_lines.h"

#include <cstdint>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/joined_rows.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/misaligned.h"
#include "dovetail/devices/cpu/copy/packed_runs.h"
#include "dovetail/devices/cpu/copy/placed_plan.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Of a row that is no whole lines: what is worth two that are written in part, and what is long
// enough for these not to count.
constexpr int64_t kShortestRow = 4 * kLine;
constexpr int64_t kLongRow = 64 * kLine;

// The rows of dst, in iterations of the loop that goes along them: so many before the first line,
// and so many that are whole lines.
struct Rows {
  int loop;  // of the plan
  int64_t head = 0;
  int64_t body = 0;

  explicit Rows(const CopyPlan& plan) : loop(plan.kernel == CopyKernel::kInterleave ? 1 : 0) {}

  // False where rows differ, or are too short. What is interleaved is written in pieces of a
  // lane: these fill lines wherever they begin.
  bool Divide(const CopyPlan& plan, const char* dst) {
    return DivideAt(kLine, plan, dst) ||
           (plan.kernel == CopyKernel::kInterleave && DivideAt(kLaneBytes, plan, dst));
  }

  // Whether the ends of rows are much of them.
  bool is_short(const CopyPlan& plan) const {
    const Loop& row = plan.loops[loop];
    return body < row.count && row.count * row.dst_step < kLongRow;
  }

 private:
  // With a body that begins at a multiple of so many bytes.
  bool DivideAt(int64_t multiple, const CopyPlan& plan, const char* dst) {
    if (plan.HasFewPlanes()) return false;
    for (int i = loop + 1; i < plan.rank; ++i) {
      if (plan.loops[i].dst_step % multiple != 0) return false;
    }
    const int64_t step = plan.loops[loop].dst_step, count = plan.loops[loop].count;
    const int64_t turns = kLine / plan.unit();  // after which a row is at a line again
    head = 0;
    while ((reinterpret_cast<intptr_t>(dst) + head * step) % multiple != 0) {
      if (++head == turns) return false;
    }
    body = (count - head) / turns * turns;
    // Where not all planes are wanted, the last vectors would reach beyond the last element.
    const int64_t planes = plan.kernel_loops() == 2 ? plan.loops[1].count : 1;
    const bool reaches_on =
        plan.kernel == CopyKernel::kDeinterleave && plan.loops[0].src_step > planes * plan.unit();
    if (reaches_on && head + body == count) body -= turns;
    return body == count || body * step >= kShortestRow;
  }
};

void RunStreaming(const PlacedPlan& piece, BlockKernel kernel, const CopyTuning& tuning,
                  bool from_memory) {
  const CopyPlan& plan = piece.plan;
  if (plan.kernel == CopyKernel::kTranspose) {
    auto run = [kernel](const Block& block, const ColumnsBefore&) { kernel(block); };
    const auto buffer = BufferForRuns(plan, tuning, false);
    if (buffer != nullptr) {
      return RunPacked(plan, piece.dst, piece.src, tuning, {}, run, buffer.get());
    }
    RunInStrips(plan, piece.dst, piece.src, tuning, from_memory, {}, run);
  } else {
    RunBlocks(kernel, plan.kernel_loops(), plan.loops, plan.rank, piece.dst, piece.src);
  }
}

}  // namespace

bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     bool from_memory) {
  if (plan.kernel == CopyKernel::kRows) return WriteJoinedRows(plan, dst, src, kernels);
  const BlockKernel kernel = EntryOf(kernels.streaming, plan.kernel, plan.unit_log2);
  Rows rows(plan);
  if (kernel == nullptr || !rows.Divide(plan, dst)) {
    return WriteContinued(plan, dst, src, kernels, from_memory) ||
           WriteMisaligned(plan, dst, src, kernels, from_memory);
  }
  if (rows.is_short(plan) && WriteContinued(plan, dst, src, kernels, from_memory)) return true;
  PlacedPlan part{plan, dst, src};
  int64_t& turns = part.plan.loops[rows.loop].count;
  turns = rows.head;
  if (turns > 0) part.RunCached(kernels);
  part.Skip(rows.loop, turns);
  turns = rows.body;
  RunStreaming(part, kernel, kernels.tuning, from_memory);
  part.Skip(rows.loop, turns);
  turns = plan.loops[rows.loop].count - rows.head - rows.body;
  if (turns > 0) part.RunCached(kernels);
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
