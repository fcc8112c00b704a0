#include "dovetail/devices/cpu/copy/streamed_transpose.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::DivideAligned;
using internal_loop_nest::DividedLoop;

int64_t BytesOf(const CopyPlan& plan, int loop) { return plan.loops[loop].count * plan.unit(); }

// The shortest row of dst, or run of rows that continue each other, that is worth the cost of its
// ends; and the shortest rows of such a run.
constexpr int64_t kShortest = 16 * kLine;
constexpr int64_t kShortestContinued = 2 * kLine;
// The longest step to the next row of src for which the lines that two rows share are still cached.
constexpr int64_t kNear = 8 * kLine;

// The shortest row of src. What it shares with far rows is read twice.
int64_t ShortestInSrc(const CopyPlan& plan) {
  const int64_t row = BytesOf(plan, 1), step = std::abs(plan.loops[0].src_step);
  const bool is_near = step == row || step <= kNear;
  if (is_near && BytesOf(plan, 0) >= kShortest) return kLaneBytes;
  if (is_near || row % kLine == 0) return 2 * kLine;
  return std::clamp(64 * plan.unit(), 2 * kLine, 4 * kLine);
}

// Bytes of each row of src that are read before the next panel.
constexpr int64_t kStrip = 16 << 10;
// (The last panel also takes the rows that remain.)
static_assert(std::ranges::all_of(kAllTunings, [](const CopyTuning* tuning) {
  return 2 * tuning->panel_bytes <= kMostLines * kLine;
}));

// (On the heap: threads may have little stack.)
struct Scratch {
  alignas(kLine) char bytes[kScratchBytes];
};

// A plan with the addresses of its first iteration, for copies of a plan in several parts.
struct PlacedPlan {
  CopyPlan plan;
  char* dst;
  const char* src;

  // Begins after some iterations; counts do not change.
  void Skip(int loop, int64_t iterations) {
    dst += iterations * plan.loops[loop].dst_step;
    src += iterations * plan.loops[loop].src_step;
  }
  void RunCached(const Kernels& kernels) const {
    ExecuteCached(plan.kernel, plan.unit_log2, plan.loops, plan.rank, dst, src, kernels);
  }
};

// Transposes all of a plan whose rows in dst have at least a line. `before` is the source offset of
// the line of columns before a row.
class Panels {
 public:
  Panels(const PlacedPlan& part, const Kernels& kernels, int64_t before, char* scratch)
      : part_(part),
        scratch_(scratch),
        kernel_(kernels.stream_transpose[part.plan.unit_log2]),
        unit_(part.plan.unit()),
        prefetch_bytes_(kernels.tuning.prefetch_bytes),
        before_(before),
        panel_(DivideAligned(part.plan.loops[0], RowsOfPanel(part.plan, kernels.tuning))),
        strip_(DivideAligned(part.plan.loops[1], kStrip / unit_, PastLine(part.src))) {}

  void Run() {
    Loop loops[CopyPlan::kMaxLoops];
    const CopyPlan& plan = part_.plan;
    int rank = 0;
    loops[rank++] = panel_.Parts();
    int i = 2;
    while (i < plan.rank && Cost(plan.loops[i]) < kStrip) loops[rank++] = plan.loops[i++];
    const int strip_at = rank;
    loops[rank++] = strip_.Parts();
    while (i < plan.rank) loops[rank++] = plan.loops[i++];
    Odometer at(loops, rank);
    for (bool more = true; more;) {
      const int64_t panel = at.index(0), strip = at.index(strip_at), lead = strip_.LeadOf(strip);
      Block block{.dst = part_.dst + at.dst - lead * plan.loops[1].dst_step,
                  .src = part_.src + at.src - lead * unit_,
                  .inner = panel_.Part(panel),
                  .outer = strip_.Part(strip)};
      const int64_t line = kLine / unit_;
      const int64_t before = panel == 0 ? before_ : -line * block.inner.src_step;
      more = at.Next();
      const int64_t next_lead = strip_.LeadOf(at.index(strip_at));
      RunBlock(block, before, more ? part_.src + at.src - next_lead * unit_ : nullptr);
    }
  }

 private:
  // A short row is not divided, so that its source is read once, with the line that it shares with
  // the next row.
  static int64_t RowsOfPanel(const CopyPlan& plan, const CopyTuning& tuning) {
    if (BytesOf(plan, 0) <= kMostLines * kLine) return plan.loops[0].count;
    const int64_t line = kLine / plan.unit();
    return std::max(tuning.panel_bytes / plan.unit() / line * line, line);
  }

  // The elements between the start of p's line and p.
  int64_t PastLine(const char* p) const {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % kLine) / unit_;
  }

  // Runs a block in pieces of some bytes of each row of src. Each piece prefetches the next one,
  // and the last piece the block at `next`.
  void RunBlock(Block block, int64_t before, const char* next) const {
    if (prefetch_bytes_ == 0) return kernel_(block, before, scratch_);
    const DividedLoop pieces =
        DivideAligned(block.outer, prefetch_bytes_ / unit_, PastLine(block.src));
    for (int64_t i = 0; i < pieces.count(); ++i) {
      block.outer.count = pieces.SizeOf(i);
      const char* const end = block.src + block.outer.count * unit_;
      const char* const first = i + 1 < pieces.count() ? end : next;
      block.prefetched = {first, first == nullptr ? 0 : block.inner.count,
                          block.outer.count * unit_, block.inner.src_step};
      kernel_(block, before, scratch_);
      block.dst += block.outer.count * block.outer.dst_step;
      block.src = end;
    }
  }

  const PlacedPlan& part_;
  char* const scratch_;
  const StreamTransposeKernel kernel_;
  const int64_t unit_;
  const int64_t prefetch_bytes_;
  const int64_t before_;
  const DividedLoop panel_, strip_;
};

// The loop that continues a run of `run` bytes in dst; 0 if there is none.
int FindNext(const CopyPlan& plan, int64_t run) { return plan.FindLoop(1, &Loop::dst_step, run); }

int64_t BytesOfRun(const CopyPlan& plan) {
  int64_t run = BytesOf(plan, 0);
  for (int next; (next = FindNext(plan, run)) > 0;) run *= plan.loops[next].count;
  return run;
}

// Rows that are long by themselves. If all have the same alignment, lines begin at the first whole
// one; if not, after a line that the kernel completes. The ends go through the cache, and may
// overlap what the kernel writes.
void StreamLongRows(const PlacedPlan& all, const Kernels& kernels, char* scratch) {
  const Loop& row = all.plan.loops[0];
  const int64_t unit = all.plan.unit(), line = kLine / unit;
  const auto past_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(all.dst) % kLine);
  const bool is_even = all.plan.RowsBeginAt(kLine, all.dst - past_line);
  const int64_t head = is_even ? (kLine - past_line) % kLine / unit : line;
  const int64_t body = (row.count - head) / line * line;
  PlacedPlan first = all, middle = all, last = all;
  first.plan.loops[0].count = head;
  if (head > 0) first.RunCached(kernels);
  middle.plan.loops[0].count = body;
  middle.Skip(0, head);
  Panels(middle, kernels, -line * row.src_step, scratch).Run();
  const int64_t tail = std::min(row.count, row.count - head - body + (is_even ? 0 : line));
  if (tail == 0) return;
  last.plan.loops[0].count = tail;
  last.Skip(0, row.count - tail);
  last.RunCached(kernels);
}

// Rows that continue each other: each row's first line begins with the last columns of the row
// before. That is the one before in the first loop that continues the row; at that loop's first
// iteration, in the next such loop, and so on.
void StreamContinuedRows(const PlacedPlan& all, const Kernels& kernels, char* scratch) {
  const Loop& row = all.plan.loops[0];
  const int64_t unit = all.plan.unit(), line = kLine / unit;
  PlacedPlan rest = all;
  int64_t run = BytesOf(all.plan, 0);
  int64_t back = (row.count - line) * row.src_step;  // to the run's last columns in src
  // Copies all iterations of loop i but the first, which stays in `rest`.
  const auto join = [&](int i) {
    const Loop loop = rest.plan.loops[i];
    PlacedPlan joined = rest;
    joined.plan.loops[i].count -= 1;
    joined.Skip(i, 1);
    Panels(joined, kernels, back - loop.src_step, scratch).Run();
    rest.plan.loops[i].count = 1;
    run *= loop.count;
    back += (loop.count - 1) * loop.src_step;
  };
  for (int i; (i = FindNext(rest.plan, run)) > 1;) join(i);
  if (FindNext(rest.plan, run) == 1 && BytesOf(rest.plan, 1) >= kLaneBytes + unit) join(1);
  // The very first row, and the last columns of all.
  rest.RunCached(kernels);
  rest.plan.loops[0].count = line;
  rest.dst += run - kLine;
  rest.src += back;
  rest.RunCached(kernels);
}

}  // namespace

bool StreamTranspose(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (plan.kernel != CopyKernel::kTranspose ||
      kernels.stream_transpose[plan.unit_log2] == nullptr || plan.HasFewPlanes() ||
      !plan.RowsBeginAt(plan.unit(), dst)) {
    return false;
  }
  const int64_t row = BytesOf(plan, 0);
  const bool is_continued =
      row >= kShortestContinued && FindNext(plan, row) > 0 && BytesOfRun(plan) >= kShortest;
  if (BytesOf(plan, 1) < ShortestInSrc(plan) || (row < kShortest && !is_continued)) return false;
  const std::unique_ptr<Scratch> scratch(new (std::nothrow) Scratch);
  if (scratch == nullptr) return false;
  const auto stream = row >= kShortest ? StreamLongRows : StreamContinuedRows;
  stream({plan, dst, src}, kernels, scratch->bytes);
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
