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

}  // namespace

bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const BlockKernel kernel = ChoosePast(plan, kernels);
  Rows rows(plan);
  if (kernel == nullptr || !rows.Divide(plan, dst)) return false;
  CopyPlan part = plan;
  Loop& row = part.loops[rows.loop];
  auto skip = [&](int64_t turns) {
    dst += turns * row.dst_step;
    src += turns * row.src_step;
  };
  auto run_cached = [&](int64_t turns) {
    row.count = turns;
    if (turns > 0) {
      ExecuteCached(part.kernel, part.unit_log2, part.loops, part.rank, dst, src, kernels);
    }
    skip(turns);
  };
  run_cached(rows.head);
  row.count = rows.body;
  if (part.kernel == CopyKernel::kTranspose) {
    RunInStrips(part, dst, src, kernel);
  } else {
    RunInOrder(part, dst, src, kernel);
  }
  skip(rows.body);
  run_cached(plan.loops[rows.loop].count - rows.head - rows.body);
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
