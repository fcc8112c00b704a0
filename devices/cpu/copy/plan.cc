#include "dovetail/devices/cpu/copy/plan.h"

#include <algorithm>
#include <bit>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

bool StepsEvenly(const Loop& inner, const Loop& outer) {
  return outer.dst_step == inner.count * inner.dst_step &&
         outer.src_step == inner.count * inner.src_step;
}

}  // namespace

// An element of an odd size is a row of the largest power of two that divides it.
void CopyPlan::TakeUnit(int64_t element_bytes) {
  const int64_t unit = std::min<int64_t>(element_bytes & -element_bytes, kMaxUnit);
  unit_log2 = std::countr_zero(static_cast<uint64_t>(unit));
  Add({element_bytes / unit, unit, unit});
}

// All loops ascend in dst. One that stands still there matters for its last iteration only.
void CopyPlan::Orient() {
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    Loop loop = loops[i];
    if (loop.dst_step == 0) {
      src_offset += (loop.count - 1) * loop.src_step;
      continue;
    }
    if (loop.dst_step < 0) {
      dst_offset += (loop.count - 1) * loop.dst_step;
      src_offset += (loop.count - 1) * loop.src_step;
      loop.dst_step = -loop.dst_step;
      loop.src_step = -loop.src_step;
    }
    loops[kept++] = loop;
  }
  rank = kept;
}

// Those given last are the innermost as a rule, so that little is left to move.
void CopyPlan::SortByDst() {
  std::reverse(loops, loops + rank);
  for (int i = 1; i < rank; ++i) {
    const Loop loop = loops[i];
    int at = i;
    for (; at > 0 && loops[at - 1].dst_step > loop.dst_step; --at) loops[at] = loops[at - 1];
    loops[at] = loop;
  }
}

void CopyPlan::Merge() {
  int last = 0;
  for (int i = 1; i < rank; ++i) {
    if (StepsEvenly(loops[last], loops[i])) {
      loops[last].count *= loops[i].count;
    } else {
      loops[++last] = loops[i];
    }
  }
  rank = std::min(rank, last + 1);
}

// A short dense row that makes up a unit of its own is one.
void CopyPlan::Widen() {
  if (rank == 0 || loops[0].dst_step != unit() || loops[0].src_step != unit()) return;
  const int64_t wide = loops[0].count * unit();
  if (wide > kMaxUnit || !std::has_single_bit(static_cast<uint64_t>(wide))) return;
  unit_log2 = std::countr_zero(static_cast<uint64_t>(wide));
  std::copy(loops + 1, loops + rank, loops);
  --rank;
}

void CopyPlan::Finish(int64_t element_bytes) {
  if (empty) return;
  TakeUnit(element_bytes);
  Orient();
  if (rank > 1) {
    SortByDst();
    Merge();
  }
  bytes = unit();
  for (int i = 0; i < rank; ++i) bytes *= loops[i].count;
  Widen();
  ChooseKernel();
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
