// Copies by tiles that are transposed in the L1 and L2 caches.
//
//   if (!CopyByTiles(plan, dst, src, kernels, /*streams=*/true)) …    // copy in another way
//
// A tile is a part of the copy with long runs in src and in dst (tile_shape.h). Its runs in src are
// packed into a buffer, permuted there by a small plan of their own, and leave for dst in whole
// cache lines: what fills no line is carried to the tile that continues the run. Never throws. Any
// thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_TILES_H_
#define DOVETAIL_DEVICES_CPU_COPY_TILES_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// False, with nothing done, if runs are too short for tiles to be faster than single elements, or
// if there is no memory for the buffers. `dst` and `src` are the addresses of the first iteration
// of all loops. streams: by streaming stores, if runs of dst are long enough.
bool CopyByTiles(const CopyPlan& plan, char* dst, const char* src, const Kernels& kernels,
                 bool streams);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_TILES_H_
