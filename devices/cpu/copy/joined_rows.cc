#include "dovetail/devices/cpu/copy/joined_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/rows_ahead.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using internal_loop_nest::DividedLoop;
using internal_loop_nest::DivideEvenly;

// The least rows that follow each other in src for which groups are faster.
constexpr int64_t kLeastFollowing = 4;

bool IsPossible(const CopyPlan& plan, const Kernels& kernels) {
  if (plan.kernel != CopyKernel::kRows || kernels.join_rows == nullptr || plan.rank < 2) {
    return false;
  }
  const int64_t bytes = plan.loops[0].count * plan.unit();
  return bytes >= kernels.joined_bytes && plan.loops[1].dst_step == bytes;
}

// Where the rows written so far end. Their last, incomplete line is not written yet.
struct Written {
  char* dst = nullptr;
  const char* src = nullptr;

  void Finish() const {
    const int64_t rest = reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
    if (rest > 0) std::memcpy(dst - rest, src - rest, rest);
  }
};

// Writes the first row of a run, which no other row precedes.
void WriteFirst(char* dst, const char* src, int64_t bytes, const Kernels& kernels) {
  const int64_t head = -reinterpret_cast<uintptr_t>(dst) & (kLine - 1);
  std::memcpy(dst, src, head);
  kernels.join_rows(dst + head, src + head, nullptr, bytes - head, 1, 0, nullptr, Cache::kL1);
}

// Whether a loop whose rows are not contiguous in dst has enough rows that are contiguous in src.
bool FollowInSrc(const CopyPlan& plan, int64_t bytes) {
  const int next = plan.FindLoop(2, &Loop::src_step, bytes);
  return next != 0 && plan.loops[next].count >= kLeastFollowing;
}

// Writes a few rows at a time, so that src is read at as many places, each of which continues with
// the next group.
void WriteGroups(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t bytes = plan.loops[0].count * plan.unit(), src_step = plan.loops[1].src_step;
  const DividedLoop group = DivideEvenly(plan.loops[1], kernels.tuning.joined_rows);
  Loop loops[CopyPlan::kMaxLoops];
  Loop* const end = std::copy(plan.loops + 1, plan.loops + plan.rank, loops);
  SortAsInSrc(loops, end);
  Loop* const groups =
      std::find_if(loops, end, [&](const Loop& loop) { return loop.dst_step == bytes; });
  *groups = group.Parts();
  Odometer at(loops, static_cast<int>(end - loops));
  do {
    const int64_t index = at.index(static_cast<int>(groups - loops));
    const int64_t rows = group.SizeOf(index);
    char* const to = dst + at.dst;
    const char* const from = src + at.src;
    const int64_t done = index == 0 ? 1 : 0;
    if (done > 0) WriteFirst(to, from, bytes, kernels);
    // The end of the row before a group is read again, for the line that both share.
    kernels.join_rows(to + done * bytes, from + done * src_step,
                      from + (done - 1) * src_step + bytes, bytes, rows - done, src_step, nullptr,
                      Cache::kL1);
    if (index + 1 == groups->count) {
      Written{to + rows * bytes, from + (rows - 1) * src_step + bytes}.Finish();
    }
  } while (at.Next());
}

}  // namespace

bool WriteJoinedRows(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  if (!IsPossible(plan, kernels)) return false;
  const int64_t bytes = plan.loops[0].count * plan.unit(), src_step = plan.loops[1].src_step;
  const int64_t group = kernels.tuning.joined_rows;
  if (group > 0 && plan.loops[1].count >= 2 * group && FollowInSrc(plan, bytes)) {
    WriteGroups(plan, dst, src, kernels);
    return true;
  }
  BatchesAhead batches(plan, 1, bytes, kernels.tuning.prefetch_distance, src);
  Written written;
  do {
    char* const to = dst + batches.dst();
    const char* const from = src + batches.src();
    const char* const later = batches.later();
    const int64_t rows = batches.rows();
    if (to == written.dst) {
      kernels.join_rows(to, from, written.src, bytes, rows, src_step, later,
                        kernels.tuning.prefetch_into);
    } else {
      written.Finish();
      WriteFirst(to, from, bytes, kernels);
      kernels.join_rows(to + bytes, from + src_step, from + bytes, bytes, rows - 1, src_step, later,
                        kernels.tuning.prefetch_into);
    }
    written = {to + rows * bytes, from + (rows - 1) * src_step + bytes};
  } while (batches.Next());
  written.Finish();
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
