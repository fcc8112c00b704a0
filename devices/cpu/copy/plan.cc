#include "dovetail/devices/cpu/copy/plan.h"

#include <algorithm>
#include <bit>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;

constexpr NormalForm kForm{.zero_step = NormalForm::ZeroStep::kLastIteration};

}  // namespace

// An element of an odd size is a row of the largest power of two that divides it.
void CopyPlan::TakeUnit(int64_t element_bytes) {
  const int64_t unit = std::min<int64_t>(element_bytes & -element_bytes, kMaxUnit);
  unit_log2 = std::countr_zero(static_cast<uint64_t>(unit));
  Add({element_bytes / unit, unit, unit});
}

// A short dense row of the size of a unit becomes one unit.
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
  Loop::Offsets start;
  rank = Normalize<kForm>(loops, rank, &start);
  dst_offset = start.dst;
  src_offset = start.src;
  bytes = unit();
  for (int i = 0; i < rank; ++i) bytes *= loops[i].count;
  Widen();
  ChooseKernel();
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
