#include "dovetail/devices/cpu/copy/buffer_blocks.h"

#include <algorithm>

#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Bytes of each row of src that a block of a transpose reads.
constexpr int64_t kSrcRowBytes = 512;
// Bytes of dst: the least of a row, and of all rows of a block, that are worth a buffer (reads of a
// buffer wait for the stores before them); and the length from which on a run takes in a further
// loop only if that is also the nearest one in memory.
constexpr int64_t kShortestRun = 256;
constexpr int64_t kLeastAtOnce = 8192;
constexpr int64_t kLongRun = 1024;
// The most bytes of a block of planes: planes are read from one place, so a block fits the L1
// cache.
constexpr int64_t kMostOfPlanes = 16 << 10;

// loops[0] of a plan and the loops that continue it in dst.
struct Chain {
  int loops[CopyPlan::kMaxLoops];
  int length = 0;
  int64_t run = 0;  // bytes without a gap
  bool taken[CopyPlan::kMaxLoops] = {};

  void Take(const CopyPlan& plan, int i) {
    loops[length++] = i;
    taken[i] = true;
    run = plan.loops[i].dst_step * plan.loops[i].count;
  }

  int Next(const CopyPlan& plan) const {
    for (int i = 1; i < plan.rank; ++i) {
      if (!taken[i] && plan.loops[i].dst_step == run) return i;
    }
    return -1;
  }

  bool IsNearest(const CopyPlan& plan, int next, int rows) const {
    for (int i = 1; i < plan.rank; ++i) {
      if (!taken[i] && i != rows && Cost(plan.loops[i]) < Cost(plan.loops[next])) return false;
    }
    return true;
  }
};

int64_t RowsAtOnce(const CopyPlan& plan, const CopyTuning& tuning) {
  return std::min({plan.loops[1].count, kSrcRowBytes / plan.unit(), tuning.buffer_rows});
}

}  // namespace

bool BufferBlocks::Find(const CopyPlan& plan, const CopyTuning& tuning) {
  if (plan.rank == 0 || plan.loops[0].dst_step != plan.unit()) return false;
  if (plan.kernel == CopyKernel::kRows) return false;  // there is nothing to gather
  // Its rows of dst are loops[2]; here loops[1] would be taken for them.
  if (plan.kernel == CopyKernel::kTransposeGroups) return false;
  // A few planes at once are written in long rows without a buffer.
  if (plan.HasFewPlanes()) return false;
  // The second loop of a fill is not special: rows can be cut anywhere.
  const bool has_rows_loop = plan.kernel_loops() >= 2 && plan.kernel != CopyKernel::kFill;
  const int rows_loop = has_rows_loop ? 1 : -1;
  Chain chain;
  chain.Take(plan, 0);
  int64_t most_bytes = tuning.buffer_bytes;
  if (plan.kernel == CopyKernel::kDeinterleave) most_bytes = std::min(most_bytes, kMostOfPlanes);
  for (int next; (next = chain.Next(plan)) >= 0; chain.Take(plan, next)) {
    if (next == rows_loop) {
      // Rows continue each other, so a block is one run.
      const int64_t together = chain.run * RowsAtOnce(plan, tuning);
      if (together > tuning.buffer_bytes) break;
      most_bytes = std::max(tuning.run_bytes, together);
    } else if (chain.run >= kLongRun && !chain.IsNearest(plan, next, rows_loop)) {
      break;
    }
  }
  const bool has_others = rows_loop > 0 && !chain.taken[rows_loop];
  const int64_t at_once = has_others ? RowsAtOnce(plan, tuning) : 1;
  if (chain.run < kShortestRun || chain.run * at_once < kLeastAtOnce) return false;
  box[box_rank++] = plan.loops[0];
  if (rows_loop > 0) {
    box[box_rank++] = plan.loops[1];
    if (has_others) {
      rows = internal_loop_nest::DivideBySize(plan.loops[1], at_once);
      box[1].count = at_once;
    }
  }
  TakeIntoBox(plan, most_bytes, chain.loops, chain.length, rows_loop > 0 ? 2 : 1);
  for (int i = 1; i < plan.rank; ++i) {
    if (!chain.taken[i] && i != rows_loop) outer[outer_rank++] = plan.loops[i];
  }
  return true;
}

void BufferBlocks::TakeIntoBox(const CopyPlan& plan, int64_t most_bytes, const int* chain,
                               int length, int kernel_loops) {
  const int64_t limit = most_bytes / rows.size() / kLine * kLine;
  box_row_bytes = plan.unit();
  for (int i = 0; i < length; ++i) {
    const Loop& loop = plan.loops[chain[i]];
    if (along_rank > 0) {
      along[along_rank++] = loop;
      continue;
    }
    const int at = chain[i] < kernel_loops ? chain[i] : box_rank++;
    box[at] = loop;
    if (box_row_bytes * loop.count > limit) {
      cut = internal_loop_nest::DivideBySize(loop, limit / box_row_bytes);
      cut_at = at;
      box[at].count = cut->size();
      along[along_rank++] = cut->Parts();
    }
    box_row_bytes *= box[at].count;
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
