#include "dovetail/devices/cpu/copy/rows_asked.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/odometer.h"
#include "dovetail/devices/cpu/copy/parted_loop.h"
#include "dovetail/devices/cpu/copy/rows_ahead.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

// Bytes of src from which on it is worth it, of all and of a row: less may be in the second cache,
// and of short rows a processor has several under way by itself.
constexpr int64_t kLeastOfSrc = 4 << 20;
constexpr int64_t kLeastOfRow = 4 * kLine;

// The first loops of a plan as far as what they read lies together: `rank` of them, which read so
// many bytes from `begin` on, from the first element's. A line between two does no harm.
struct SrcRow {
  int rank = 0;
  int64_t begin = 0;
  int64_t bytes;

  explicit SrcRow(const CopyPlan& plan) : bytes(plan.unit()) {
    for (; rank < plan.rank; ++rank) {
      const Loop& loop = plan.loops[rank];
      if (std::abs(loop.src_step) > bytes + kLine) return;
      const int64_t reach = (loop.count - 1) * loop.src_step;
      begin += std::min(reach, int64_t{0});
      bytes += std::abs(reach);
    }
  }
};

}  // namespace

bool ExecuteAskingAhead(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t far_bytes = kernels.order.rows_ahead_bytes;
  const bool is_gapped = plan.GoesByRows() && plan.kernel != CopyKernel::kRows;
  if (far_bytes == 0 || !is_gapped) return false;
  const SrcRow row(plan);
  if (row.rank == 0 || row.rank == plan.rank) return false;
  if (row.bytes < kLeastOfRow || row.bytes > far_bytes / 2) return false;
  int64_t all = row.bytes;
  for (int i = row.rank; i < plan.rank; ++i) {
    if (std::abs(plan.loops[i].src_step) < row.bytes) return false;  // the same lines again
    all *= plan.loops[i].count;
  }
  if (all < kLeastOfSrc) return false;
  // So many rows at a time that there are two such parts between what is copied and what is asked
  // for.
  const int64_t far = far_bytes / row.bytes;
  const PartedLoop parted(plan.loops[row.rank], far / 2);
  Loop around[CopyPlan::kMaxLoops], part[CopyPlan::kMaxLoops];
  std::copy(plan.loops + row.rank, plan.loops + plan.rank, around);
  std::copy(plan.loops, plan.loops + row.rank + 1, part);
  around[0] = parted.Parts();
  RowsAhead ahead(src, around, plan.rank - row.rank, far / parted.turns);
  Odometer at(around, plan.rank - row.rank);
  do {
    Loop& rows = part[row.rank];
    rows.count = parted.TurnsOf(at.turn(0));
    if (const char* later = ahead.Next()) {
      for (int64_t i = 0; i < rows.count; ++i) {
        AskFor(later + row.begin + i * rows.src_step, row.bytes);
      }
    }
    ExecuteCached(plan.kernel, plan.unit_log2, part, row.rank + 1, dst + at.dst, src + at.src,
                  kernels);
  } while (at.Next());
  return true;
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
