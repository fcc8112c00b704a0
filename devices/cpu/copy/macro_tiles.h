// Copies whose rows are short on both sides, by tiles that span several loops.
//
//   if (CopyByTiles(plan, dst, src, kernels)) return;
//
// A tile is a run of elements that follow each other in src, through as many loops as it takes,
// times a run of those in dst. It is a matrix: its rows, each dense in src, are packed side by side
// and transposed, and each row of the result is dense in dst. Both steps stay in the L1 cache. For
// copies beyond the caches: within them, single elements are faster.

#ifndef DOVETAIL_DEVICES_CPU_COPY_MACRO_TILES_H_
#define DOVETAIL_DEVICES_CPU_COPY_MACRO_TILES_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, and nothing is copied, if the plan has no such runs, its elements are wide, or there is no
// memory for a tile. `dst` and `src` are
// the addresses of the first iteration of all loops.
bool CopyByTiles(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_MACRO_TILES_H_
