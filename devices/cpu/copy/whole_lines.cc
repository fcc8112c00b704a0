#include "dovetail/devices/cpu/copy/whole_lines.h"

#include <cstdint>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"
#include "dovetail/devices/cpu/copy/strips.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// Of a row that is no whole lines, what is worth two that are written in part.
constexpr int64_t kShortestRow = 4 * kLine;
constexpr int64_t kShortestStaggered = 16 * kLine;
// What a transpose takes of each row of src at least.
constexpr int64_t kLeastOfSrc = 16;

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
      RunInStrips(plan_, dst_, src_, kernel);
    } else {
      RunInOrder(plan_, dst_, src_, kernel);
    }
    Skip(turns);
  }

  // Forth, or back.
  void Skip(int64_t turns) {
    dst_ += turns * row_.dst_step;
    src_ += turns * row_.src_step;
  }

 private:
  CopyPlan plan_;
  Loop& row_;
  char* dst_;
  const char* src_;
  const Kernels& kernels_;
};

// A transpose whose rows of dst lie in different ways to the lines. Each row's first line is
// written by the columns behind it, up to the last that they fill; what is left at both ends, with
// some more that is written twice, goes through the cache.
bool WriteStaggered(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const BlockKernel kernel = kernels.staggered[plan.unit_log2];
  if (plan.kernel != CopyKernel::kTranspose || kernel == nullptr) return false;
  if (plan.loops[1].count * plan.unit() < kLeastOfSrc) return false;
  int64_t all = reinterpret_cast<intptr_t>(dst);
  for (int i = 1; i < plan.rank; ++i) all |= plan.loops[i].dst_step;
  const int64_t count = plan.loops[0].count, line = kLine / plan.unit();
  if (all % plan.unit() != 0 || count * plan.unit() < kShortestStaggered) return false;
  const int64_t body = count / line * line - line;
  Pieces pieces(plan, 0, dst, src, kernels);
  pieces.RunCached(line);
  pieces.RunPast(body, kernel);
  pieces.Skip(-line);
  pieces.RunCached(count - body);
  return true;
}

}  // namespace

bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const BlockKernel kernel = ChoosePast(plan, kernels);
  Rows rows(plan);
  if (kernel == nullptr || !rows.Divide(plan, dst)) {
    return WriteStaggered(plan, dst, src, kernels);
  }
  Pieces pieces(plan, rows.loop, dst, src, kernels);
  pieces.RunCached(rows.head);
  pieces.RunPast(rows.body, kernel);
  pieces.RunCached(plan.loops[rows.loop].count - rows.head - rows.body);
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
