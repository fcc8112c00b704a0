// Runs a plan.
//
//   Execute(plan, dst, src);                 // the elements 0 of both sides
//
// dst and src have no bytes in common. Threads: any; a plan is only read.

#ifndef DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_
#define DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// How a copy is executed, where a caller (a test) knows better.
struct ExecuteOptions {
  const Kernels* kernels = nullptr;  // of the best level
  // Bytes from which on lines are streamed; as StreamFrom() says where negative.
  int64_t stream_from = -1;
  int64_t memory_from = -1;  // and from which on src is taken to lie in memory, likewise
};

// Through the cache, from `dst` and `src` on, which are where the first iteration of all loops is.
void ExecuteCached(CopyKernel kernel, int unit_log2, const Loop* loops, int rank, char* dst,
                   const char* src, const Kernels& kernels);

// Runs `kernel`, which has the first `own` loops for itself, on every iteration of the others.
void RunBlocks(BlockKernel kernel, int own, const Loop* loops, int rank, char* dst,
               const char* src);

// The entry of a table; nullptr for the kernels that are in none.
BlockKernel EntryOf(const BlockKernels& kernels, CopyKernel kernel, int unit_log2);

void Execute(const CopyPlan& plan, void* dst, const void* src, const ExecuteOptions& options = {});

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_EXECUTE_H_
