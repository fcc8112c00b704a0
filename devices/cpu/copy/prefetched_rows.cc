#include "dovetail/devices/cpu/copy/prefetched_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/rows_ahead.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// The least bytes of src, and of a row of it, for which prefetch is worth it. Less may be in the L2
// cache, and a processor has several short rows in flight without prefetch.
constexpr int64_t kLeastOfSrc = 4 << 20;
constexpr int64_t kLeastOfRow = 4 * kLine;

// The first `rank` loops of a plan, which read one stretch of src: `bytes` from offset `begin` on.
// Gaps of up to a line are included.
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

bool ExecutePrefetching(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels) {
  const int64_t far_bytes = kernels.tuning.prefetch_distance;
  const bool is_gapped = plan.GoesByRows() && plan.kernel != CopyKernel::kRows;
  if (far_bytes == 0 || !is_gapped || plan.bytes < kLeastOfSrc / kFarthestPixel) return false;
  const SrcRow row(plan);
  if (row.rank == 0 || row.rank == plan.rank) return false;
  if (row.bytes < kLeastOfRow || row.bytes > far_bytes / 2) return false;
  int64_t all = row.bytes;
  for (int i = row.rank; i < plan.rank; ++i) {
    if (std::abs(plan.loops[i].src_step) < row.bytes) return false;  // the same lines again
    all *= plan.loops[i].count;
  }
  if (all < kLeastOfSrc) return false;
  Loop loops[CopyPlan::kMaxLoops];
  std::copy(plan.loops, plan.loops + row.rank + 1, loops);
  Loop& rows = loops[row.rank];
  BatchesAhead batches(plan, row.rank, row.bytes, far_bytes, src);
  do {
    rows.count = batches.rows();
    if (const char* const later = batches.later()) {
      for (int64_t i = 0; i < rows.count; ++i) {
        PrefetchRow(later + row.begin + i * rows.src_step, row.bytes, kernels.tuning.prefetch_into);
      }
    }
    ExecuteCached(plan.kernel, plan.unit_log2, loops, row.rank + 1, dst + batches.dst(),
                  src + batches.src(), kernels);
  } while (batches.Next());
  return true;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
