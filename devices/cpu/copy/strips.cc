#include "dovetail/devices/cpu/copy/strips.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

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
void ContinueStrip(const CopyPlan& plan, int64_t strip_bytes, Around& around, Around& left) {
  for (int i = 2; i < plan.rank; ++i) left.Add(plan.loops[i]);
  int64_t run = plan.loops[1].count * plan.unit();
  for (int i = 0; i < left.rank;) {
    Loop& loop = left.loops[i];
    int64_t part = loop.src_step == run ? std::min(loop.count, strip_bytes / run) : 1;
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

using BandKernel = absl::FunctionRef<void(const Block&, int64_t)>;

// `block` in pieces of so many bytes of each row of src, each of which knows where the next one is;
// the last, that `next` is.
void RunAlong(Block block, int64_t bytes, int64_t unit, const char* next, int64_t band,
              BandKernel kernel) {
  const Divided pieces(block.outer, bytes / unit);
  const Loop steps = pieces.Parts();
  for (int64_t i = 0; i < steps.count; ++i) {
    block.outer.count = pieces.TurnsOf(i);
    block.src_of_next = i + 1 < steps.count ? block.src + steps.src_step : next;
    kernel(block, band);
    block.dst += steps.dst_step;
    block.src += steps.src_step;
  }
}

}  // namespace

void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const MemoryOrder& order,
                 BandKernel kernel, int64_t short_row) {
  Block block{dst, src, plan.loops[0], plan.loops[1]};
  const int64_t unit = plan.unit();
  const int64_t line = kLine / unit;
  const int64_t turns =
      std::max(std::min(order.band_bytes / unit, order.band_rows) / line * line, line);
  const bool is_short = block.inner.count * unit <= short_row;
  const Divided band(block.inner, is_short ? block.inner.count : turns);
  const Divided strip(block.outer, order.strip_bytes / unit);
  Around around, left;
  ContinueStrip(plan, order.strip_bytes, around, left);
  const int band_at = around.Add(band.Parts());
  int i = 0;
  while (i < left.rank && Cost(left.loops[i]) < order.strip_bytes) around.Add(left.loops[i++]);
  const int strip_at = around.Add(strip.Parts());
  while (i < left.rank) around.Add(left.loops[i++]);
  Odometer at(around.loops, around.rank);
  for (bool more = true; more;) {
    block.dst = dst + at.dst;
    block.src = src + at.src;
    block.inner.count = band.TurnsOf(at.turn(band_at));
    block.outer.count = strip.TurnsOf(at.turn(strip_at));
    const int64_t band_of_block = at.turn(band_at);
    more = at.Next();
    if (order.ahead_bytes > 0) {
      RunAlong(block, order.ahead_bytes, unit, more ? src + at.src : nullptr, band_of_block,
               kernel);
    } else {
      kernel(block, band_of_block);
    }
  }
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
