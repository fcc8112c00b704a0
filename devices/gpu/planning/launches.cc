#include "dovetail/devices/gpu/planning/launches.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/devices/gpu/kernels/gather.h"
#include "dovetail/devices/gpu/kernels/linear.h"
#include "dovetail/devices/gpu/kernels/shifted_tile.h"
#include "dovetail/devices/gpu/kernels/tile.h"
#include "dovetail/devices/gpu/planning/launch_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// The widest unit (1, 2, 4, 8 or 16 bytes) to which every address of the copy is aligned.
int64_t WidestUnit(const MergedCopy& copy) {
  uint64_t all = 16 | reinterpret_cast<uintptr_t>(copy.dst) |
                 reinterpret_cast<uintptr_t>(copy.src) | static_cast<uint64_t>(copy.run_bytes);
  for (const Loop& loop : copy.loops) {
    all |= static_cast<uint64_t>(loop.dst_step) | static_cast<uint64_t>(loop.src_step);
  }
  return static_cast<int64_t>(all & (~all + 1));
}

CopyLoops LoopsOfUnits(const MergedCopy& copy, int64_t unit) {
  CopyLoops loops = copy.loops;
  if (copy.run_bytes > unit) loops.push_back({copy.run_bytes / unit, unit, unit});
  return loops;
}

// ---- Which kernel ----

template <typename Kernel>
constexpr TileShape ShapeOf(KernelId id) {
  return {id, Kernel::kAlongDst, Kernel::kAlongSrc};
}
template <int kBytes>
constexpr TileShape ShiftedShapeOf(KernelId id) {
  using Kernel = ShiftedTileCopy<kBytes>;
  return {id, Kernel::kAlongDst, Kernel::kAlongSrc, Kernel::kRun - 1};
}

// How elements of one and two bytes move through tiles.
enum class TileWords {
  kNone,     // singly
  kAligned,  // in words of four bytes
  kShifted,  // in such words, which begin elsewhere in each row
};

TileShape ShapeOfTile(int64_t unit, TileWords words) {
  switch (unit) {
    case 1:
      return words == TileWords::kAligned
                 ? ShapeOf<TileCopy<1, 4>>(KernelId::dovetail_copy_tiled_1x4)
             : words == TileWords::kShifted
                 ? ShiftedShapeOf<1>(KernelId::dovetail_copy_shifted_1)
                 : ShapeOf<TileCopy<1, 1>>(KernelId::dovetail_copy_tiled_1);
    case 2:
      return words == TileWords::kAligned
                 ? ShapeOf<TileCopy<2, 2>>(KernelId::dovetail_copy_tiled_2x2)
             : words == TileWords::kShifted
                 ? ShiftedShapeOf<2>(KernelId::dovetail_copy_shifted_2)
                 : ShapeOf<TileCopy<2, 1>>(KernelId::dovetail_copy_tiled_2);
    case 4:
      return ShapeOf<TileCopy<4, 1>>(KernelId::dovetail_copy_tiled_4);
    case 8:
      return ShapeOf<TileCopy<8, 1>>(KernelId::dovetail_copy_tiled_8);
    default:
      return ShapeOf<TileCopy<16, 1>>(KernelId::dovetail_copy_tiled_16);
  }
}

struct LinearChoice {
  KernelId copy, fill;
  int units_per_block;
};
LinearChoice Linear(int64_t unit) {
  switch (unit) {
    case 1:
      return {KernelId::dovetail_copy_1, KernelId::dovetail_fill_1, LinearCopy<1>::kUnitsPerBlock};
    case 2:
      return {KernelId::dovetail_copy_2, KernelId::dovetail_fill_2, LinearCopy<2>::kUnitsPerBlock};
    case 4:
      return {KernelId::dovetail_copy_4, KernelId::dovetail_fill_4, LinearCopy<4>::kUnitsPerBlock};
    case 8:
      return {KernelId::dovetail_copy_8, KernelId::dovetail_fill_8, LinearCopy<8>::kUnitsPerBlock};
    default:
      return {KernelId::dovetail_copy_16, KernelId::dovetail_fill_16,
              LinearCopy<16>::kUnitsPerBlock};
  }
}

// ---- Copies ----

// Words need both tiled dimensions to be dense.
TileWords WordsOf(const Part& part, int along_src) {
  constexpr int64_t kWord = 4;
  const Loop& d = part.loops.back();
  const Loop& s = part.loops[along_src];
  if (part.unit >= kWord || d.dst_step != part.unit || s.src_step != part.unit) {
    return TileWords::kNone;
  }
  const int64_t run = kWord / part.unit;
  uint64_t all = reinterpret_cast<uintptr_t>(part.dst) | reinterpret_cast<uintptr_t>(part.src) |
                 static_cast<uint64_t>(d.src_step) | static_cast<uint64_t>(s.dst_step);
  for (size_t i = 0; i + 1 < part.loops.size(); ++i) {
    if (static_cast<int>(i) == along_src) continue;
    all |= static_cast<uint64_t>(part.loops[i].dst_step) |
           static_cast<uint64_t>(part.loops[i].src_step);
  }
  const bool aligned = all % kWord == 0 && d.count % run == 0 && s.count % run == 0;
  return aligned ? TileWords::kAligned : TileWords::kShifted;
}

// AlongSrc, or -1 if the device has no kernel for such tiles.
int AlongSrcOf(const Part& part, KernelSet kernels) {
  if (kernels == KernelSet::kLinear) return -1;
  const int along_src = AlongSrc(part.loops);
  if (along_src < 0 || kernels == KernelSet::kAll) return along_src;
  if (part.unit > 4) return -1;
  const TileShape shape = ShapeOfTile(part.unit, TileWords::kNone);
  const Loop& d = part.loops.back();
  const Loop& s = part.loops[along_src];
  const bool is_dense = d.dst_step == part.unit && s.src_step == part.unit;
  return is_dense && d.count >= shape.along_dst && s.count >= shape.along_src ? along_src : -1;
}

struct GatherChoice {
  KernelId kernel;
  int run;  // elements of a word
  int words_per_block;
};
template <typename Kernel>
constexpr GatherChoice GatherOf(KernelId id) {
  return {id, Kernel::kRun, Kernel::kUnitsPerBlock};
}
// The kernels for elements of `unit` bytes, the widest words first.
absl::InlinedVector<GatherChoice, 2> Gather(int64_t unit) {
  switch (unit) {
    case 1:
      return {GatherOf<GatherCopy<1, 16>>(KernelId::dovetail_copy_gathered_1x16),
              GatherOf<GatherCopy<1, 4>>(KernelId::dovetail_copy_gathered_1x4)};
    case 2:
      return {GatherOf<GatherCopy<2, 8>>(KernelId::dovetail_copy_gathered_2x8),
              GatherOf<GatherCopy<2, 2>>(KernelId::dovetail_copy_gathered_2x2)};
    case 4:
      return {GatherOf<GatherCopy<4, 4>>(KernelId::dovetail_copy_gathered_4x4)};
    default:
      return {};
  }
}

// Nothing if the destination is not dense and aligned to words, or a plane is no whole number of
// them.
std::optional<CopyLaunch> PlanGather(const Part& part) {
  if (part.loops.empty() || part.loops.back().dst_step != part.unit) return std::nullopt;
  CopyLoops loops = part.loops;
  const Loop inner = loops.back();
  loops.pop_back();
  Loop outer{1, 0, 0};
  if (!loops.empty() && loops.back().dst_step == inner.count * part.unit) {
    outer = loops.back();
    loops.pop_back();
  }
  const int64_t plane = inner.count * outer.count;
  int64_t all = static_cast<int64_t>(reinterpret_cast<uintptr_t>(part.dst)) | plane * part.unit;
  for (const Loop& loop : loops) all |= loop.dst_step;
  for (const GatherChoice& gather : Gather(part.unit)) {
    if (all % (gather.run * part.unit) != 0) continue;
    CopyLaunch launch{gather.kernel, 0, {}};
    CopyArguments& a = launch.arguments;
    a.dst = part.dst;
    a.src = part.src;
    a.along_dst = TiledDimension(inner, static_cast<uint32_t>(inner.count));
    a.along_src = TiledDimension(outer, static_cast<uint32_t>(plane / gather.run));
    for (const Loop& loop : loops) AddDimension(a.space, loop);
    a.units = static_cast<uint32_t>(plane / gather.run * Product(loops));
    launch.blocks = BlocksOf(a.units, gather.words_per_block);
    return launch;
  }
  return std::nullopt;
}

CopyLaunch Plan(const Part& part, KernelSet kernels) {
  const int along_src = AlongSrcOf(part, kernels);
  std::optional<CopyLaunch> gather;
  if (kernels != KernelSet::kLinear && along_src < 0) gather = PlanGather(part);
  const bool all = kernels == KernelSet::kAll;
  const LinearChoice linear = Linear(part.unit);
  CopyLaunch launch =
      along_src >= 0
          ? PlanTiles(part, along_src,
                      ShapeOfTile(part.unit, all ? WordsOf(part, along_src) : TileWords::kNone))
      : gather ? *gather
               : PlanLinear(part, linear.copy, linear.units_per_block);
  return launch;
}

}  // namespace

absl::Status ForEachCopyLaunch(const MergedCopy& copy,
                               absl::FunctionRef<absl::Status(const CopyLaunch&)> take,
                               const LaunchLimits& limits) {
  if (copy.run_bytes == 0) return absl::OkStatus();
  const int64_t unit = WidestUnit(copy);
  return ForEachPart(
      {copy.dst, copy.src, LoopsOfUnits(copy, unit), unit}, limits.units, [&](const Part& part) {
        return TakeWithinBlocks(
            part, limits.blocks, [&](const Part& p) { return Plan(p, limits.kernels); }, take);
      });
}

absl::Status ForEachFillLaunch(const MergedCopy& fill, const void* element, int64_t item_bytes,
                               absl::FunctionRef<absl::Status(const FillLaunch&)> take,
                               int64_t max_units) {
  if (item_bytes < 1 || item_bytes > 16 || (item_bytes & (item_bytes - 1)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("No kernel fills with elements of ", item_bytes,
                     " bytes (1, 2, 4, 8 and 16 there are); copy an element with steps of 0."));
  }
  if (fill.run_bytes == 0) return absl::OkStatus();
  MergedCopy dst = fill;
  dst.src = dst.dst;
  for (Loop& loop : dst.loops) loop.src_step = loop.dst_step;
  const int64_t unit = WidestUnit(dst);
  const LinearChoice linear = Linear(unit);
  // Each part starts at the start of an element.
  const int64_t units_per_item = std::max<int64_t>(item_bytes / unit, 1);
  max_units = std::max(max_units / units_per_item, int64_t{1}) * units_per_item;
  return ForEachPart({dst.dst, dst.src, LoopsOfUnits(dst, unit), unit}, max_units,
                     [&](const Part& part) {
                       const int64_t units = Product(part.loops);
                       FillLaunch launch{linear.fill, BlocksOf(units, linear.units_per_block), {}};
                       FillArguments& a = launch.arguments;
                       a.dst = part.dst;
                       a.units = static_cast<uint32_t>(units);
                       a.period_mask = static_cast<uint32_t>(units_per_item - 1);
                       for (int64_t i = 0; i < 16; i += item_bytes)
                         std::memcpy(a.pattern + i, element, item_bytes);
                       for (const Loop& loop : part.loops) AddDimension(a.space, loop);
                       return take(launch);
                     });
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
