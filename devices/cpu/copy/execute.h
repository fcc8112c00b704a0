// Runs a plan.
//
//   Execute(plan, dst, src);                 // the addresses of element 0
//
// dst and src do not overlap. Any thread; a plan is only read.

#ifndef DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_
#define DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Overrides for tests.
struct ExecuteOptions {
  const Kernels* kernels = nullptr;  // null: the kernels of the best SIMD level
  int64_t stream_from = -1;  // the least bytes for streaming stores. Negative: as StreamFrom()
};

// Copies through the cache. `dst` and `src` are the addresses of the first iteration of all loops.
void ExecuteCached(CopyKernel kernel, int unit_log2, const Loop* loops, int rank, char* dst,
                   const char* src, const Kernels& kernels);

// Runs `kernel`, which goes through the first `own` loops itself, in every iteration of the others.
void RunBlocks(BlockKernel kernel, int own, const Loop* loops, int rank, char* dst,
               const char* src);

// The kernel in a table; nullptr for kPermute, kElements and kNothing, which have none.
BlockKernel EntryOf(const BlockKernels& kernels, CopyKernel kernel, int unit_log2);

void Execute(const CopyPlan& plan, void* dst, const void* src, const ExecuteOptions& options = {});

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_
