#include "dovetail/devices/cpu/copy/whole_lines.h"

#include <cstdint>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/joined_rows.h"
#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/staggered.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// Of a row that is no whole lines: what is worth two that are written in part, and what is long
// enough for these not to count.
constexpr int64_t kShortestRow = 4 * kLine;
constexpr int64_t kLongRow = 64 * kLine;

BlockKernel ChoosePast(const CopyPlan& plan, const Kernels& kernels) {
  switch (plan.kernel) {
    case CopyKernel::kTranspose:
      return kernels.past.transpose[plan.unit_log2];
    case CopyKernel::kTakeApart:
      return kernels.past.take_apart[plan.unit_log2];
    case CopyKernel::kPutTogether:
      return kernels.past.put_together[plan.unit_log2];
    default:
      return nullptr;
  }
}

// The rows of dst, in turns of the loop that goes along them: so many before the first line, and so
// many that are whole lines.
struct Rows {
  int loop;  // of the plan
  int64_t head = 0;
  int64_t body = 0;

  explicit Rows(const CopyPlan& plan) : loop(plan.kernel == CopyKernel::kPutTogether ? 1 : 0) {}

  // False where rows differ, or are too short.
  bool Divide(const CopyPlan& plan, const char* dst) {
    if (plan.kernel == CopyKernel::kTranspose && plan.loops[1].count * plan.unit() < kLeastOfSrc) {
      return false;
    }
    for (int i = loop + 1; i < plan.rank; ++i) {
      if (plan.loops[i].dst_step % kLine != 0) return false;
    }
    const int64_t step = plan.loops[loop].dst_step, count = plan.loops[loop].count;
    const int64_t turns = kLine / plan.unit();  // after which a row is at a line again
    while ((reinterpret_cast<intptr_t>(dst) + head * step) % kLine != 0) {
      if (++head == turns) return false;
    }
    body = (count - head) / turns * turns;
    // Where not all planes are wanted, the last vectors would reach beyond the last element.
    const int64_t planes = plan.kernel_loops() == 2 ? plan.loops[1].count : 1;
    const bool reaches_on =
        plan.kernel == CopyKernel::kTakeApart && plan.loops[0].src_step > planes * plan.unit();
    if (reaches_on && head + body == count) body -= turns;
    return body == count || body * step >= kShortestRow;
  }

  // Whether the ends of rows are much of them.
  bool is_short(const CopyPlan& plan) const {
    const Loop& row = plan.loops[loop];
    return body < row.count && row.count * row.dst_step < kLongRow;
  }
};

void RunInOrder(const CopyPlan& plan, char* dst, const char* src, BlockKernel kernel) {
  const int own = plan.kernel_loops();
  Block block{dst, src, plan.loops[0], own > 1 ? plan.loops[1] : Loop{1, 0, 0}};
  Odometer at(plan.loops + own, plan.rank - own);
  do {
    block.dst = dst + at.dst;
    block.src = src + at.src;
    kernel(block);
  } while (at.Next());
}

// A plan whose loop over the rows of dst is gone through in pieces, one after the other.
class Pieces {
 public:
  Pieces(const CopyPlan& plan, int loop, char* dst, const char* src, const Kernels& kernels)
      : plan_(plan), row_(plan_.loops[loop]), dst_(dst), src_(src), kernels_(kernels) {}

  void RunCached(int64_t turns) {
    row_.count = turns;
    if (turns > 0) {
      ExecuteCached(plan_.kernel, plan_.unit_log2, plan_.loops, plan_.rank, dst_, src_, kernels_);
    }
    Skip(turns);
  }

  void RunPast(int64_t turns, BlockKernel kernel) {
    row_.count = turns;
    if (plan_.kernel == CopyKernel::kTranspose) {
      RunInStrips(plan_, dst_, src_, [kernel](const Block& block, int64_t) { kernel(block); });
    } else {
      RunInOrder(plan_, dst_, src_, kernel);
    }
    Skip(turns);
  }

 private:
  void Skip(int64_t turns) {
    dst_ += turns * row_.dst_step;
    src_ += turns * row_.src_step;
  }

  CopyPlan plan_;
  Loop& row_;
  char* dst_;
  const char* src_;
  const Kernels& kernels_;
};

}  // namespace

bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (plan.kernel == CopyKernel::kRows) return WriteJoinedRows(plan, dst, src, kernels);
  const BlockKernel kernel = ChoosePast(plan, kernels);
  Rows rows(plan);
  if (kernel == nullptr || !rows.Divide(plan, dst)) {
    return WriteContinued(plan, dst, src, kernels) || WriteStaggered(plan, dst, src, kernels);
  }
  if (rows.is_short(plan) && WriteContinued(plan, dst, src, kernels)) return true;
  Pieces pieces(plan, rows.loop, dst, src, kernels);
  pieces.RunCached(rows.head);
  pieces.RunPast(rows.body, kernel);
  pieces.RunCached(plan.loops[rows.loop].count - rows.head - rows.body);
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
