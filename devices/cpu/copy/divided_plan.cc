#include "dovetail/devices/cpu/copy/divided_plan.h"

#include <algorithm>
#include <cstdlib>

#include "dovetail/devices/cpu/large_work.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of a dense row in a part.
constexpr int64_t kDenseDst = 4096;
constexpr int64_t kDenseSrc = 512;

// The bytes of a row of src that a part of a transpose should have: shorter stretches take up to
// twice as long.
constexpr int64_t kLongSrc = 8 << 10;

// The iterations of loop i that stay in one part.
int64_t Grain(const CopyPlan& plan, int i) {
  const Loop& loop = plan.loops[i];
  if (i == 0 && plan.HasGroups()) return loop.count;
  if (loop.dst_step == plan.unit()) return kDenseDst / plan.unit();
  if (std::abs(loop.src_step) == plan.unit()) return kDenseSrc / plan.unit();
  return 1;
}

}  // namespace

DividedPlan::DividedPlan(const CopyPlan& plan, int64_t most, int64_t least) : plan_(plan) {
  if (!plan.empty && most > 1) Choose(most, least);
}

// Divides the loop that makes the most parts, up to `most`; of several such, the one with the
// longest step in dst.
void DividedPlan::Choose(int64_t most, int64_t least) {
  int64_t best = 1;
  for (int i = 0; i < plan_.rank; ++i) {
    const Loop& loop = plan_.loops[i];
    const int64_t parts = std::min(loop.count / Grain(plan_, i), most);
    if (parts > best || (parts == best && parts > 1 &&
                         std::abs(loop.dst_step) > std::abs(plan_.loops[at_].dst_step))) {
      best = parts;
      at_ = i;
    }
  }
  if (best <= 1) return;
  if (plan_.kernel == CopyKernel::kTranspose && at_ == 1) {
    const int64_t bytes = plan_.loops[1].count * plan_.unit();
    best = std::min(best, std::max(bytes / kLongSrc / least * least, least));
    // A loop over whole rows of src is better, if it makes as many parts.
    for (int i = 2; i < plan_.rank; ++i) {
      const int64_t parts = std::min(plan_.loops[i].count, most) / least * least;
      if (parts < best) continue;
      best = parts;
      at_ = i;
    }
  }
  divided_ = internal_loop_nest::Divide(plan_.loops[at_], best, Grain(plan_, at_));
}

void DividedPlan::Run(int64_t part, void* dst, const void* src,
                      const ExecuteOptions& options) const {
  if (count() == 1) return Execute(plan_, dst, src, options);
  CopyPlan part_plan = plan_;
  const Loop loop = part_plan.loops[at_] = divided_.Part(part);
  const int64_t begin = divided_.BeginOf(part);
  Execute(part_plan, static_cast<char*>(dst) + begin * loop.dst_step,
          static_cast<const char*>(src) + begin * loop.src_step, options);
}

bool ExecuteInParts(const CopyPlan& plan, void* dst, const void* src) {
  const LargeWork work(plan.bytes);
  if (work.most_parts() == 1) {
    Execute(plan, dst, src);
    return true;
  }
  const DividedPlan parts(plan, work.most_parts(), work.least_parts());
  return work.Run(parts.count(), [&](int64_t part) { parts.Run(part, dst, src); });
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
