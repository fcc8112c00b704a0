#include "dovetail/devices/cpu/copy/strips.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// What is written side by side of each row of dst, the rows of src that it comes from at most (a
// processor follows no more), and what is read of each of these.
constexpr int64_t kBandBytes = 2 * kLine;
constexpr int64_t kBandRows = 64;
constexpr int64_t kStripBytes = 4096;

// A loop that a kernel runs, divided into parts of `turns` turns. The last also takes the turns
// that make no part of their own, so that none is shorter but where there is only one.
class Divided {
 public:
  Divided(const Loop& loop, int64_t turns)
      : loop_(loop), turns_(turns), parts_(std::max<int64_t>(loop.count / turns, 1)) {}

  // Goes from part to part.
  Loop Parts() const { return {parts_, turns_ * loop_.dst_step, turns_ * loop_.src_step}; }
  int64_t TurnsOf(int64_t part) const {
    return part + 1 < parts_ ? turns_ : loop_.count - part * turns_;
  }

 private:
  Loop loop_;
  int64_t turns_;
  int64_t parts_;
};

// The loops around the kernel, in the order in which they are gone through, inner first.
struct Around {
  Loop loops[CopyPlan::kMaxLoops + 2];
  int rank = 0;

  int Add(const Loop& loop) {
    loops[rank] = loop;
    return rank++;
  }
};

// Moves to `around` those loops that continue a row of src, whole or in part, up to the end of a
// strip; `left` are what is left of the plan's further loops then, in their order.
void ContinueStrip(const CopyPlan& plan, Around& around, Around& left) {
  for (int i = 2; i < plan.rank; ++i) left.Add(plan.loops[i]);
  int64_t run = plan.loops[1].count * plan.unit();
  for (int i = 0; i < left.rank;) {
    Loop& loop = left.loops[i];
    int64_t part = loop.src_step == run ? std::min(loop.count, kStripBytes / run) : 1;
    while (part > 1 && loop.count % part != 0) --part;
    if (part <= 1) {
      ++i;
      continue;
    }
    around.Add({part, loop.dst_step, loop.src_step});
    run *= part;
    loop = {loop.count / part, part * loop.dst_step, part * loop.src_step};
    i = 0;
  }
}

}  // namespace

void RunInStrips(const CopyPlan& plan, char* dst, const char* src,
                 absl::FunctionRef<void(const Block&, int64_t)> kernel, int64_t short_row) {
  Block block{dst, src, plan.loops[0], plan.loops[1]};
  const int64_t turns = std::min(kBandBytes / plan.unit(), kBandRows);
  const bool is_short = block.inner.count * plan.unit() <= short_row;
  const Divided band(block.inner, is_short ? block.inner.count : turns);
  const Divided strip(block.outer, kStripBytes / plan.unit());
  Around around, left;
  ContinueStrip(plan, around, left);
  const int band_at = around.Add(band.Parts());
  int i = 0;
  while (i < left.rank && Cost(left.loops[i]) < kStripBytes) around.Add(left.loops[i++]);
  const int strip_at = around.Add(strip.Parts());
  while (i < left.rank) around.Add(left.loops[i++]);
  Odometer at(around.loops, around.rank);
  do {
    block.dst = dst + at.dst;
    block.src = src + at.src;
    block.inner.count = band.TurnsOf(at.turn(band_at));
    block.outer.count = strip.TurnsOf(at.turn(strip_at));
    kernel(block, at.turn(band_at));
  } while (at.Next());
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
