#include "dovetail/devices/gpu/planning/launch_parts.h"

#include <cstdlib>
#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using internal_loop_nest::DivideBySize;
using internal_loop_nest::DividedLoop;

absl::Status ForEachPart(Part part, int64_t max_units,
                         absl::FunctionRef<absl::Status(const Part&)> take) {
  if (part.loops.empty() || Product(part.loops) <= max_units) return take(part);
  const int64_t inner = Product(absl::MakeConstSpan(part.loops).subspan(1));
  const DividedLoop outer =
      DivideBySize(part.loops.front(), std::max<int64_t>(max_units / inner, 1));
  const Loop each = outer.Parts();
  for (int64_t i = 0; i < each.count; ++i) {
    Part rest = part;
    rest.dst += i * each.dst_step;
    rest.src += i * each.src_step;
    rest.loops.front() = outer.Part(i);
    if (rest.loops.front().count == 1) rest.loops.erase(rest.loops.begin());
    if (absl::Status s = ForEachPart(std::move(rest), max_units, take); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status TakeWithinBlocks(const Part& part, int64_t max_blocks,
                              absl::FunctionRef<CopyLaunch(const Part&)> plan,
                              absl::FunctionRef<absl::Status(const CopyLaunch&)> take) {
  const CopyLaunch launch = plan(part);
  const int64_t units = Product(part.loops);
  if (launch.blocks <= max_blocks || units <= 1) return take(launch);
  const auto fitting = static_cast<int64_t>(static_cast<double>(units) *
                                            static_cast<double>(max_blocks) / launch.blocks);
  return ForEachPart(part, std::clamp<int64_t>(fitting, 1, units - 1), [&](const Part& smaller) {
    return TakeWithinBlocks(smaller, max_blocks, plan, take);
  });
}

CopyLaunch PlanLinear(const Part& part, KernelId kernel, int64_t units_per_block) {
  const int64_t units = Product(part.loops);
  CopyLaunch launch{kernel, BlocksOf(units, units_per_block), {}};
  launch.arguments.dst = part.dst;
  launch.arguments.src = part.src;
  launch.arguments.units = static_cast<uint32_t>(units);
  for (const Loop& loop : part.loops) AddDimension(launch.arguments.space, loop);
  return launch;
}

// Along shorter loops a tile is mostly empty, and the caches serve neighbouring reads well enough.
constexpr int64_t kLeastTiled = 8;

int AlongSrc(const CopyLoops& loops) {
  const int last = static_cast<int>(loops.size()) - 1;
  int densest = -1;
  for (int i = 0; i <= last; ++i) {
    if (loops[i].src_step == 0) continue;
    if (densest < 0 || std::abs(loops[i].src_step) <= std::abs(loops[densest].src_step)) {
      densest = i;
    }
  }
  if (densest < 0 || densest == last || loops[last].src_step == 0) return -1;
  if (loops[last].count < kLeastTiled || loops[densest].count < kLeastTiled) return -1;
  return densest;
}

CopyArguments::Tiled TiledDimension(const Loop& loop, uint32_t tiles) {
  return {static_cast<uint32_t>(loop.count), FastDivisor(tiles), loop.dst_step, loop.src_step};
}

CopyLaunch PlanTiles(const Part& part, int along_src, const TileShape& shape) {
  CopyLaunch launch{shape.kernel, 1, {}};
  CopyArguments& a = launch.arguments;
  a.dst = part.dst;
  a.src = part.src;
  const Loop& d = part.loops.back();
  const Loop& s = part.loops[along_src];
  a.along_dst = TiledDimension(d, BlocksOf(d.count + shape.lead, shape.along_dst));
  a.along_src = TiledDimension(s, BlocksOf(s.count, shape.along_src));
  launch.blocks = a.along_dst.tiles.divisor * a.along_src.tiles.divisor;
  for (size_t i = 0; i + 1 < part.loops.size(); ++i) {
    if (static_cast<int>(i) == along_src) continue;
    AddDimension(a.space, part.loops[i]);
    launch.blocks *= static_cast<uint32_t>(part.loops[i].count);
  }
  return launch;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
