// The parts of a merged copy, cast or fill that each fit into one launch. Internal to the planning.
//
//   absl::Status s = ForEachPart(whole, limits.units, [&](const Part& part) {
//     return TakeWithinBlocks(part, limits.blocks, plan, take);
//   });
//
// Sizes and steps are in bytes. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_LAUNCH_PARTS_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_LAUNCH_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "dovetail/devices/gpu/planning/merge.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Its innermost loop steps by whole units.
struct Part {
  unsigned char* dst;
  const unsigned char* src;
  CopyLoops loops;
  int64_t unit = 1;
};

inline uint32_t BlocksOf(int64_t units, int64_t units_per_block) {
  return static_cast<uint32_t>(internal_loop_nest::CeilDivide(units, units_per_block));
}

inline int64_t Product(absl::Span<const Loop> loops) {
  int64_t product = 1;
  for (const Loop& loop : loops) product *= loop.count;
  return product;
}

template <int kOperands>
void AddDimension(IndexSpace<kOperands>& space, const Loop& loop) {
  space.count[space.rank] = FastDivisor(static_cast<uint32_t>(loop.count));
  space.step[0][space.rank] = loop.dst_step;
  if constexpr (kOperands == 2) space.step[1][space.rank] = loop.src_step;
  ++space.rank;
}

// Divides the outermost loop until each part has at most `max_units` units.
absl::Status ForEachPart(Part part, int64_t max_units,
                         absl::FunctionRef<absl::Status(const Part&)> take);

// Divides a part whose launch would have too many blocks: of many small tiles, for example.
absl::Status TakeWithinBlocks(const Part& part, int64_t max_blocks,
                              absl::FunctionRef<CopyLaunch(const Part&)> plan,
                              absl::FunctionRef<absl::Status(const CopyLaunch&)> take);

// A launch whose blocks move units in the order of the destination.
CopyLaunch PlanLinear(const Part& part, KernelId kernel, int64_t units_per_block);

// ---- Tiles ----

// The loop with the smallest step of src, or -1 if tiles do not help: it is dst's densest loop (the
// last), one of the two is too short, or src repeats along one of them.
int AlongSrc(const CopyLoops& loops);

struct TileShape {
  KernelId kernel;
  int along_dst, along_src;  // elements of a tile along each dimension
  int lead = 0;              // elements that a row's first word may begin before its tile
};

CopyArguments::Tiled TiledDimension(const Loop& loop, uint32_t tiles);
CopyLaunch PlanTiles(const Part& part, int along_src, const TileShape& shape);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_LAUNCH_PARTS_H_
