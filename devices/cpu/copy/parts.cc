#include "dovetail/devices/cpu/copy/parts.h"

#include <algorithm>
#include <cstdlib>

#include "dovetail/devices/cpu/large_work.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// What dense rows are not cut below.
constexpr int64_t kDenseDst = 4096;
constexpr int64_t kDenseSrc = 512;

// The bytes of a row of src that a part of a transpose has if it may: shorter ones take up to twice
// as long.
constexpr int64_t kLongSrc = 8 << 10;

// The iterations of a loop that stay together.
int64_t Grain(const CopyPlan& plan, int i) {
  const Loop& loop = plan.loops[i];
  const bool is_group =
      plan.kernel == CopyKernel::kInterleave || plan.kernel == CopyKernel::kPermute;
  if (i == 0 && is_group) return loop.count;
  if (loop.dst_step == plan.unit()) return kDenseDst / plan.unit();
  if (std::abs(loop.src_step) == plan.unit()) return kDenseSrc / plan.unit();
  return 1;
}

}  // namespace

Parts::Parts(const CopyPlan& plan, int64_t most, int64_t least) : plan_(plan) {
  if (!plan.empty && most > 1) Choose(most, least);
}

// The loop that takes the longest steps of those that can be divided so often; else the one that
// can be divided most.
void Parts::Choose(int64_t most, int64_t least) {
  int64_t best_pieces = 1;
  for (int i = 0; i < plan_.rank; ++i) {
    const Loop& loop = plan_.loops[i];
    const int64_t pieces = std::min(loop.count / Grain(plan_, i), most);
    if (pieces > best_pieces || (pieces == best_pieces && pieces > 1 &&
                                 std::abs(loop.dst_step) > std::abs(plan_.loops[loop_].dst_step))) {
      best_pieces = pieces;
      loop_ = i;
    }
  }
  if (best_pieces <= 1) return;
  if (plan_.kernel == CopyKernel::kTranspose && loop_ == 1) {
    const int64_t bytes = plan_.loops[1].count * plan_.unit();
    best_pieces = std::min(best_pieces, std::max(bytes / kLongSrc / least * least, least));
    // As many of whole rows are better.
    for (int i = 2; i < plan_.rank; ++i) {
      const int64_t pieces = std::min(plan_.loops[i].count, most) / least * least;
      if (pieces < best_pieces) continue;
      best_pieces = pieces;
      loop_ = i;
    }
  }
  const Loop& loop = plan_.loops[loop_];
  const int64_t grain = Grain(plan_, loop_);
  const int64_t grains = (loop.count + grain - 1) / grain;
  turns_ = (grains + best_pieces - 1) / best_pieces * grain;
  count_ = (loop.count + turns_ - 1) / turns_;
}

void Parts::Run(int64_t part, void* dst, const void* src, const ExecuteOptions& options) const {
  if (count_ == 1) return Execute(plan_, dst, src, options);
  CopyPlan piece = plan_;
  Loop& loop = piece.loops[loop_];
  loop.count = std::min(turns_, loop.count - part * turns_);
  Execute(piece, static_cast<char*>(dst) + part * turns_ * loop.dst_step,
          static_cast<const char*>(src) + part * turns_ * loop.src_step, options);
}

bool ExecuteInParts(const CopyPlan& plan, void* dst, const void* src) {
  const LargeWork work(plan.bytes);
  if (work.most_parts() == 1) {
    Execute(plan, dst, src);
    return true;
  }
  const Parts parts(plan, work.most_parts(), work.least_parts());
  return work.Run(parts.count(), [&](int64_t part) { parts.Run(part, dst, src); });
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
