#include "dovetail/devices/cpu/copy/plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "dovetail/devices/cpu/copy/shuffle_tables.h"

namespace dovetail::inline DOVETAIL_ABI {
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

// All loops ascend in dst. One that stands still there matters for its last turn only.
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

void CopyPlan::MoveTo(int from, int to) {
  const Loop loop = loops[from];
  for (int i = from; i > to; --i) loops[i] = loops[i - 1];
  loops[to] = loop;
}

// The loop, other than loops[0], that is dense in src; 0 where there is none.
int CopyPlan::FindDenseInSrc() const {
  for (int i = 1; i < rank; ++i) {
    if (std::abs(loops[i].src_step) == unit()) return i;
  }
  return 0;
}

void CopyPlan::SortOuter(int first) {
  for (int i = first + 1; i < rank; ++i) {
    int at = i;
    while (at > first && Cost(loops[at - 1]) > Cost(loops[i])) --at;
    MoveTo(i, at);
  }
}

void CopyPlan::ChooseKernel() {
  const int64_t step = unit();
  const int64_t lane = 16 / step;  // elements of the least vector
  kernel = CopyKernel::kElements;
  if (rank == 0) return;
  const Loop& inner = loops[0];
  if (inner.dst_step != step) {
    // The loop that reaches the least new memory in src is the other one of the tile.
    int best = 0;
    for (int i = 1; i < rank; ++i) {
      if (std::abs(loops[i].src_step) < std::abs(loops[best].src_step)) best = i;
    }
    if (best > 0) MoveTo(best, 1);
    return SortOuter(2);
  }
  if (inner.src_step == step) {
    kernel = CopyKernel::kRows;
    return SortOuter(1);
  }
  const int dense = FindDenseInSrc();
  const int64_t stride = inner.src_step / step;
  const bool small_stride =
      inner.src_step % step == 0 && stride >= 2 && stride <= kMaxStride && step < kMaxUnit;
  if (dense == 0 || (inner.src_step == 0 && inner.count >= lane)) {
    if (inner.src_step == 0) {
      kernel = CopyKernel::kFill;
    } else if ((small_stride || inner.src_step == -step) && inner.count >= lane) {
      kernel = CopyKernel::kTakeApart;
    }
    return SortOuter(1);
  }
  MoveTo(dense, 1);
  Loop& outer = loops[1];
  if (outer.src_step < 0) {
    dst_offset += (outer.count - 1) * outer.dst_step;
    src_offset += (outer.count - 1) * outer.src_step;
    outer.dst_step = -outer.dst_step;
    outer.src_step = step;
  }
  if (inner.count >= lane && outer.count >= lane) {
    kernel = CopyKernel::kTranspose;
  } else if (small_stride && outer.count <= stride && inner.count >= lane) {
    kernel = CopyKernel::kTakeApart;
  } else if (inner.count <= kMaxStride && outer.dst_step == inner.count * step &&
             outer.count >= lane) {
    kernel = CopyKernel::kPutTogether;
  }
  SortOuter(2);
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
}  // namespace dovetail::inline DOVETAIL_ABI
