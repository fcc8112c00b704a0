#include "dovetail/devices/cpu/copy/strips.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/bands.h"
#include "dovetail/devices/cpu/copy/carried_lines.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::DivideAligned;
using internal_loop_nest::DivideBySize;
using internal_loop_nest::DividedLoop;

// The loops around the kernel, innermost first.
struct Around {
  Loop loops[CopyPlan::kMaxLoops + 2];
  int rank = 0;

  int Add(const Loop& loop) {
    loops[rank] = loop;
    return rank++;
  }
};

// Fuses loops that continue a row of src, whole or in part, up to the end of a strip, and adds them
// to `around`. `left` receives the loops that were not fused.
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
    loop = DivideBySize(loop, part).Parts();
    i = 0;
  }
}

// The number of elements between the start of p's cache line and p.
int64_t PastLine(const char* p, int64_t unit) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % kLine) / unit;
}

// The rows to prefetch of a block like this one that begins at `first` in src, into the same cache.
// None if `first` is null.
PrefetchedRows RowsLike(const Block& block, const char* first, int64_t unit) {
  PrefetchedRows rows = block.prefetched;
  rows.first = first;
  rows.count = first == nullptr ? 0 : block.inner.count;
  rows.bytes = block.outer.count * unit;
  rows.pitch = block.inner.src_step;
  if (rows.pitch > 0 && rows.pitch < kLine) {  // several rows per line: prefetch lines instead
    rows.count = rows.count * rows.pitch / kLine;
    rows.bytes = rows.pitch = kLine;
    rows.into = Cache::kL1;
  }
  return rows;
}

// Runs `block` in pieces of prefetch_bytes of each row of src. Each piece prefetches the next one;
// the last piece prefetches the block at `next`.
void RunAlong(Block block, int64_t prefetch_bytes, int64_t unit, const char* next,
              ColumnsBefore before, TransposeKernel kernel) {
  const DividedLoop batches =
      DivideAligned(block.outer, prefetch_bytes / unit, PastLine(block.src, unit));
  for (int64_t i = 0; i < batches.count(); ++i) {
    block.outer.count = batches.SizeOf(i);
    const char* const end = block.src + block.outer.count * unit;
    block.prefetched = RowsLike(block, i + 1 < batches.count() ? end : next, unit);
    kernel(block, before);
    if (before.carry != nullptr) before.carry += block.outer.count * kLine;
    block.dst += block.outer.count * block.outer.dst_step;
    block.src = end;
  }
}

}  // namespace

void RunInStrips(const CopyPlan& plan, char* dst, const char* src, const CopyTuning& tuning,
                 bool from_memory, std::optional<int64_t> before, TransposeKernel kernel,
                 int64_t short_row) {
  Block block{dst, src, plan.loops[0], plan.loops[1]};
  block.prefetched.into = tuning.prefetch_into;
  block.prefetched.from_memory = from_memory;
  const int64_t unit = plan.unit();
  const int64_t line = kLine / unit;
  const Bands bands = BandsOf(plan, tuning, !before.has_value(), from_memory, short_row);
  const DividedLoop band = DivideAligned(block.inner, bands.rows);
  const DividedLoop strip = DivideAligned(block.outer, bands.strip / unit, PastLine(src, unit));
  Around around, left;
  ContinueStrip(plan, bands.strip, around, left);
  const int band_at = around.Add(band.Parts());
  int i = 0;
  while (i < left.rank && Cost(left.loops[i]) < bands.strip) around.Add(left.loops[i++]);
  const int strip_at = around.Add(strip.Parts());
  while (i < left.rank) around.Add(left.loops[i++]);
  // Lines are carried if rows have several bands, whose lines begin with columns of the band
  // before.
  const bool keeps = before.has_value() && band.count() > 1;
  const CarriedLines lines(around.loops, band_at, keeps ? strip.SizeOf(strip.count() - 1) : 0);
  Odometer at(around.loops, around.rank);
  for (bool more = true; more;) {
    const int64_t less = strip.LeadOf(at.index(strip_at));
    block.dst = dst + at.dst - less * block.outer.dst_step;
    block.src = src + at.src - less * unit;
    block.inner.count = band.SizeOf(at.index(band_at));
    block.outer.count = strip.SizeOf(at.index(strip_at));
    const bool is_first = at.index(band_at) == 0;
    char* const carry = lines.At(at);
    const ColumnsBefore before_block = {
        .at = is_first ? before.value_or(0) : -line * block.inner.src_step,
        .carry = carry,
        .has_carry = !is_first && carry != nullptr};
    more = at.Next();
    if (bands.prefetch_bytes > 0) {
      const char* const next = src + at.src - strip.LeadOf(at.index(strip_at)) * unit;
      RunAlong(block, bands.prefetch_bytes, unit, more ? next : nullptr, before_block, kernel);
    } else {
      kernel(block, before_block);
    }
  }
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
