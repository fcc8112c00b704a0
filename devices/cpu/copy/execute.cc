#include "dovetail/devices/cpu/copy/execute.h"

#include "dovetail/core/internal/odometer.h"
#include "dovetail/devices/cpu/copy/all_elements.h"
#include "dovetail/devices/cpu/copy/streamed_rows.h"
#include "dovetail/devices/cpu/copy/streamed_transpose.h"
#include "dovetail/devices/cpu/copy/tiles.h"
#include "dovetail/devices/cpu/stream_threshold.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

// Bytes of single elements that are faster by tiles.
constexpr int64_t kLeastOfTiles = 1 << 20;

constexpr decltype(&CopyAllElements<1>) kElements[kUnitSizes] = {
    CopyAllElements<1>, CopyAllElements<2>, CopyAllElements<4>, CopyAllElements<8>,
    CopyAllElements<16>};

}  // namespace

BlockKernel EntryOf(const BlockKernels& kernels, CopyKernel kernel, int unit_log2) {
  switch (kernel) {
    case CopyKernel::kRows:
      return kernels.rows[unit_log2];
    case CopyKernel::kFill:
      return kernels.fill[unit_log2];
    case CopyKernel::kTranspose:
      return kernels.transpose[unit_log2];
    case CopyKernel::kTransposeGaps:
      return kernels.transpose_gaps[unit_log2];
    case CopyKernel::kTransposeGroups:
      return kernels.transpose_groups[unit_log2];
    case CopyKernel::kPermute:
    case CopyKernel::kElements:
    case CopyKernel::kNothing:
      break;
  }
  return nullptr;
}

void RunBlocks(BlockKernel kernel, int own, const Loop* loops, int rank, char* dst,
               const char* src) {
  constexpr Loop kOnce{1, 0, 0};
  Block block{dst, src, own > 0 ? loops[0] : kOnce, own > 1 ? loops[1] : kOnce,
              own > 2 ? loops[2] : kOnce};
  if (rank <= own) return kernel(block);
  Odometer at(loops + own, rank - own);
  do {
    block.dst = dst + at.dst;
    block.src = src + at.src;
    kernel(block);
  } while (at.Next());
}

void ExecuteCached(CopyKernel kernel, int unit_log2, const Loop* loops, int rank, char* dst,
                   const char* src, const Kernels& kernels) {
  if (kernel == CopyKernel::kPermute) {
    const int64_t unit = int64_t{1} << unit_log2;
    if (kernels.permute != nullptr && kernels.permute(unit, loops, rank, dst, src, false)) {
      return;
    }
    const bool is_dense = loops[0].dst_step == unit && loops[0].src_step == unit;
    kernel = is_dense ? CopyKernel::kRows : CopyKernel::kElements;
  }
  if (const BlockKernel entry = EntryOf(kernels.cached, kernel, unit_log2); entry != nullptr) {
    RunBlocks(entry, CopyPlan::KernelLoops(kernel, rank), loops, rank, dst, src);
  } else {
    kElements[unit_log2](dst, src, loops, rank);
  }
}

namespace {

// Copies larger than the cache, by streaming (non-temporal) stores. A normal store to a part of a
// cache line reads the line first, and a large copy evicts everything else from the cache;
// streaming stores avoid both, if they fill whole lines. False, with nothing done, if no way fits.
bool ExecuteStreamed(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                     const StreamThresholds& from) {
  const bool repeats = plan.kernel == CopyKernel::kFill || plan.FindLoop(1, &Loop::src_step, 0) > 0;
  const int64_t least = !plan.GoesByRows() ? from.gathered : repeats ? from.fills : from.rows;
  if (plan.bytes < least) return false;
  const bool is_permuted = plan.kernel == CopyKernel::kPermute && kernels.permute != nullptr &&
                           kernels.permute(plan.unit(), plan.loops, plan.rank, dst, src, true);
  const bool done = is_permuted || StreamTranspose(plan, dst, src, kernels) ||
                    StreamRows(plan, dst, src, kernels);
  if (done) kernels.stream_done();
  const bool is_general =
      plan.kernel == CopyKernel::kTranspose || plan.kernel == CopyKernel::kElements;
  return done || (is_general && CopyByTiles(plan, dst, src, kernels, /*streams=*/true));
}

}  // namespace

void Execute(const CopyPlan& plan, void* dst, const void* src, const ExecuteOptions& options) {
  if (plan.empty) return;
  const Kernels& kernels =
      options.kernels != nullptr ? *options.kernels : *KernelsOf(BestSimdLevel());
  char* to = static_cast<char*>(dst) + plan.dst_offset;
  const char* from = static_cast<const char*>(src) + plan.src_offset;
  StreamThresholds stream_from = StreamFrom();
  if (const int64_t all = options.stream_from; all >= 0) stream_from = {all, all, all, all};
  if (plan.bytes >= stream_from.gathered && ExecuteStreamed(plan, to, from, kernels, stream_from)) {
    return;
  }
  if (plan.kernel == CopyKernel::kElements && plan.bytes >= kLeastOfTiles &&
      CopyByTiles(plan, to, from, kernels, /*streams=*/false)) {
    return;
  }
  ExecuteCached(plan.kernel, plan.unit_log2, plan.loops, plan.rank, to, from, kernels);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
