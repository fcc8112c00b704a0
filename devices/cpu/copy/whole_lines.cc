#include "dovetail/devices/cpu/copy/whole_lines.h"

#include <cstdint>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/placed_plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a row that are worth writing the incomplete lines at its ends twice.
constexpr int64_t kShortestRow = 4 * kLine;

// The rows of dst, in iterations of the loop along them: `head` before the first whole line, then
// `body` in whole lines.
struct Rows {
  int loop;  // of the plan
  int64_t head = 0;
  int64_t body = 0;

  explicit Rows(const CopyPlan& plan) : loop(plan.kernel == CopyKernel::kInterleave ? 1 : 0) {}

  // False if rows differ in alignment or are too short. Interleaved rows are written lane by lane,
  // and lanes fill lines if rows are aligned to lanes.
  bool FindBody(const CopyPlan& plan, const char* dst) {
    return FindBodyAt(kLine, plan, dst) ||
           (plan.kernel == CopyKernel::kInterleave && FindBodyAt(kLaneBytes, plan, dst));
  }

 private:
  // Finds a body that begins at a multiple of `multiple` bytes.
  bool FindBodyAt(int64_t multiple, const CopyPlan& plan, const char* dst) {
    for (int i = loop + 1; i < plan.rank; ++i) {
      if (plan.loops[i].dst_step % multiple != 0) return false;
    }
    const int64_t step = plan.loops[loop].dst_step, count = plan.loops[loop].count;
    const int64_t line = kLine / plan.unit();  // iterations from line to line
    head = 0;
    while ((reinterpret_cast<intptr_t>(dst) + head * step) % multiple != 0) {
      if (++head == line) return false;
    }
    body = (count - head) / line * line;
    // If not all planes are copied, the last vectors would read beyond the last element.
    const int64_t planes = plan.kernel_loops() == 2 ? plan.loops[1].count : 1;
    const bool reaches_on =
        plan.kernel == CopyKernel::kDeinterleave && plan.loops[0].src_step > planes * plan.unit();
    if (reaches_on && head + body == count) body -= line;
    return body == count || body * step >= kShortestRow;
  }
};

}  // namespace

bool WriteWholeLines(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const BlockKernel kernel = EntryOf(kernels.streaming, plan.kernel, plan.unit_log2);
  Rows rows(plan);
  if (kernel == nullptr || !rows.FindBody(plan, dst)) return false;
  PlacedPlan part{plan, dst, src};
  int64_t& count = part.plan.loops[rows.loop].count;
  count = rows.head;
  if (count > 0) part.RunCached(kernels);
  part.Skip(rows.loop, count);
  count = rows.body;
  RunBlocks(kernel, plan.kernel_loops(), part.plan.loops, plan.rank, part.dst, part.src);
  part.Skip(rows.loop, count);
  count = plan.loops[rows.loop].count - rows.head - rows.body;
  if (count > 0) part.RunCached(kernels);
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
