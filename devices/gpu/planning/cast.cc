#include "dovetail/devices/gpu/planning/cast.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/devices/gpu/kernels/cast.h"
#include "dovetail/devices/gpu/kernels/cast_tile.h"
#include "dovetail/devices/gpu/planning/cast_formats.h"
#include "dovetail/devices/gpu/planning/launch_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

using internal_loop_nest::NormalForm;
using internal_loop_nest::Normalize;

DType OneLane(DType type) { return {type.kind, type.bits, 1}; }

// Whether some address is no multiple of `bytes`. `steps` are the steps from `data`, or-ed
// together.
bool IsMisaligned(const void* data, int64_t steps, int64_t bytes) {
  return (static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)) | steps) % bytes != 0;
}

// ---- Which kernel ----

// A linear kernel, for packets of `run` elements.
struct LinearCaster {
  KernelId kernel;
  int run;
  int units_per_block;
};
template <typename Kernel>
constexpr LinearCaster CasterOf(KernelId id) {
  return {id, Kernel::kRun, Kernel::kUnitsPerBlock};
}

// What casts one pair of types.
struct Casters {
  LinearCaster single;                 // any layout
  std::optional<LinearCaster> packet;  // elements that follow each other on both sides
  std::optional<TileShape> tile;       // transposed dimensions
};

template <int kTo>
Casters TableCasters(KernelId single, KernelId packet) {
  return {CasterOf<LinearCast<OfTable<kTo>, 1>>(single),
          CasterOf<LinearCast<OfTable<kTo>, OfTable<kTo>::kRun>>(packet),
          {}};
}

// All kernels of this family have the same shape.
LinearCaster FormatCaster(int64_t from, int64_t to) {
  constexpr KernelId kIds[3][4] = {
      {KernelId::dovetail_cast_2_1, KernelId::dovetail_cast_2_2, KernelId::dovetail_cast_2_4,
       KernelId::dovetail_cast_2_8},
      {KernelId::dovetail_cast_4_1, KernelId::dovetail_cast_4_2, KernelId::dovetail_cast_4_4,
       KernelId::dovetail_cast_4_8},
      {KernelId::dovetail_cast_8_1, KernelId::dovetail_cast_8_2, KernelId::dovetail_cast_8_4,
       KernelId::dovetail_cast_8_8},
  };
  const auto log2 = [](int64_t bytes) { return bytes == 8 ? 3 : bytes / 2; };
  return CasterOf<LinearCast<OfFormats<2, 2>, 1>>(kIds[log2(from) - 1][log2(to)]);
}

Casters CastersOf(DType from, DType to) {
  if (from.is_complex()) {
    constexpr KernelId kIds[] = {KernelId::dovetail_cast_complex_2,
                                 KernelId::dovetail_cast_complex_4,
                                 KernelId::dovetail_cast_complex_8};
    return {CasterOf<LinearCast<OfComplex<2>, 1>>(kIds[from.bits / 64]), {}, {}};
  }
  Casters casters;
  if (from.bits == 8) {
    switch (to.itemsize()) {
      case 1:
        casters =
            TableCasters<1>(KernelId::dovetail_cast_table_1, KernelId::dovetail_cast_tables_1);
        break;
      case 2:
        casters =
            TableCasters<2>(KernelId::dovetail_cast_table_2, KernelId::dovetail_cast_tables_2);
        break;
      case 4:
        casters =
            TableCasters<4>(KernelId::dovetail_cast_table_4, KernelId::dovetail_cast_tables_4);
        break;
      default:
        casters =
            TableCasters<8>(KernelId::dovetail_cast_table_8, KernelId::dovetail_cast_tables_8);
    }
  } else {
    casters.single = FormatCaster(from.itemsize(), to.itemsize());
  }
#define DOVETAIL_CAST_PAIR(from_type, to_type)                                                   \
  if (from == dtype_of<from_type> && to == dtype_of<to_type>) {                                  \
    using Pair = OfPair<from_type, to_type>;                                                     \
    casters.packet =                                                                             \
        CasterOf<LinearCast<Pair, Pair::kRun>>(KernelId::dovetail_cast_##from_type##_##to_type); \
    casters.tile = TileShape{KernelId::dovetail_cast_tiled_##from_type##_##to_type,              \
                             TileCast<Pair>::kAlongDst, TileCast<Pair>::kAlongSrc};              \
  }
#include "dovetail/devices/gpu/kernels/cast_pairs.inc"
#undef DOVETAIL_CAST_PAIR
  return casters;
}

// Whether a tiled cast to elements of `to` bytes may store words of four bytes.
bool StoresWords(const CopyArguments& a, int64_t to) {
  constexpr int64_t kWord = 4;
  int64_t all = a.along_src.dst_step | to * a.along_dst.count;
  for (uint32_t i = 0; i < a.space.rank; ++i) all |= a.space.step[0][i];
  return a.along_dst.dst_step == to && !IsMisaligned(a.dst, all, kWord);
}

// ---- Launches ----

// How the elements of a row fall into packets.
struct Packets {
  int64_t before = 0;    // elements before the first packet
  int64_t elements = 0;  // of all packets
};

// Packets of `run` elements that are aligned to their size on each side. There are none if the
// elements of a row do not follow each other. Of several rows, each must be packets alone.
Packets PacketsOf(const Part& part, int64_t run, int64_t to, int64_t from) {
  if (part.loops.empty()) return {};
  const Loop& row = part.loops.back();
  if (row.dst_step != to || row.src_step != from) return {};
  int64_t dst_steps = 0, src_steps = 0;
  for (size_t i = 0; i + 1 < part.loops.size(); ++i) {
    dst_steps |= part.loops[i].dst_step;
    src_steps |= part.loops[i].src_step;
  }
  const bool is_one_row = part.loops.size() == 1;
  if (!is_one_row && row.count % run != 0) return {};
  for (int64_t before = 0; before < (is_one_row ? std::min(run, row.count) : 1); ++before) {
    if (IsMisaligned(part.dst + before * to, dst_steps, run * to) ||
        IsMisaligned(part.src + before * from, src_steps, run * from)) {
      continue;
    }
    return {before, (row.count - before) / run * run};
  }
  return {};
}

// `count` elements of a part of one row, from `begin` on.
Part OfRow(const Part& row, int64_t begin, int64_t count) {
  Part part = row;
  part.dst += begin * row.loops[0].dst_step;
  part.src += begin * row.loops[0].src_step;
  part.loops[0].count = count;
  return part;
}

// The part with `run` elements in a unit. (A loop of one unit would be a dimension too many.)
Part InPackets(Part part, int64_t run) {
  Loop& row = part.loops.back();
  row = {row.count / run, row.dst_step * run, row.src_step * run};
  if (row.count == 1) part.loops.pop_back();
  return part;
}

class Planner {
 public:
  Planner(const MergedCast& cast, absl::FunctionRef<absl::Status(const CopyLaunch&)> take,
          const LaunchLimits& limits)
      : casters_(CastersOf(cast.from, cast.to)),
        to_(cast.to.itemsize()),
        from_(cast.from.itemsize()),
        take_(take),
        limits_(limits) {}

  absl::Status Run(const Part& part) const {
    if (casters_.tile) {
      if (const int along_src = AlongSrc(part.loops); along_src >= 0) return Tiled(part, along_src);
    }
    if (!casters_.packet) return Linear(part, casters_.single);
    const int64_t run = casters_.packet->run;
    const Packets packets = PacketsOf(part, run, to_, from_);
    if (packets.elements == 0) return Linear(part, casters_.single);
    if (part.loops.size() > 1) return Linear(InPackets(part, run), *casters_.packet);
    const int64_t end = packets.before + packets.elements;
    const int64_t after = part.loops[0].count - end;
    absl::Status s;
    if (packets.before > 0) s = Linear(OfRow(part, 0, packets.before), casters_.single);
    if (s.ok()) {
      s = Linear(InPackets(OfRow(part, packets.before, packets.elements), run), *casters_.packet);
    }
    if (s.ok() && after > 0) s = Linear(OfRow(part, end, after), casters_.single);
    return s;
  }

 private:
  absl::Status Linear(const Part& whole, const LinearCaster& caster) const {
    return Take(whole, [&caster](const Part& part) {
      return PlanLinear(part, caster.kernel, caster.units_per_block);
    });
  }
  // A loop that was divided down to one iteration leaves nothing to transpose.
  absl::Status Tiled(const Part& whole, int along_src) const {
    return ForEachPart(whole, limits_.units, [&](const Part& part) -> absl::Status {
      if (part.loops.size() != whole.loops.size()) return Linear(part, casters_.single);
      return TakeWithinBlocks(
          part, limits_.blocks,
          [&](const Part& p) {
            return p.loops.size() == whole.loops.size()
                       ? PlanTiles(p, along_src, *casters_.tile)
                       : PlanLinear(p, casters_.single.kernel, casters_.single.units_per_block);
          },
          take_);
    });
  }
  absl::Status Take(const Part& whole, absl::FunctionRef<CopyLaunch(const Part&)> plan) const {
    return ForEachPart(whole, limits_.units, [&](const Part& part) {
      return TakeWithinBlocks(part, limits_.blocks, plan, take_);
    });
  }

  const Casters casters_;
  const int64_t to_, from_;  // bytes of an element
  const absl::FunctionRef<absl::Status(const CopyLaunch&)> take_;
  const LaunchLimits& limits_;
};

}  // namespace

bool HasCast(DType from, DType to) {
  if (from.lanes != to.lanes) return false;
  from = OneLane(from);
  to = OneLane(to);
  if (from.is_complex() && !to.is_complex()) return to == kBool;
  return IsCastable(from.part()) && IsCastable(to.part());
}

absl::Status MergeCast(const TensorView& dst, const TensorView& src, MergedCast* merged) {
  if (!HasCast(src.dtype, dst.dtype)) {
    return absl::UnimplementedError(absl::StrCat("No kernel casts ", src.dtype.ToString(), " to ",
                                                 dst.dtype.ToString(), "; the host casts."));
  }
  merged->zeros.reset();
  MergedCopy& elements = merged->elements;
  elements.run_bytes = 0;
  elements.dst = static_cast<unsigned char*>(dst.data);
  elements.src = static_cast<const unsigned char*>(src.data);
  DType to = OneLane(dst.dtype), from = OneLane(src.dtype);
  CopyLoops& loops = elements.loops;  // innermost first, for now
  loops.clear();
  if (to.is_complex() && from.is_complex()) {
    to = to.part();
    from = from.part();
    loops.push_back({2, to.itemsize(), from.itemsize()});
  }
  if (dst.dtype.lanes > 1) {
    loops.push_back(
        {dst.dtype.lanes, OneLane(dst.dtype).itemsize(), OneLane(src.dtype).itemsize()});
  }
  const bool adds_parts = to.is_complex();
  if (adds_parts) to = to.part();
  for (int dim = dst.rank() - 1; dim >= 0; --dim) {
    if (dst.shape[dim] == 0) return absl::OkStatus();
    loops.push_back({dst.shape[dim], WrappingMultiply(dst.strides[dim], dst.dtype.itemsize()),
                     WrappingMultiply(src.strides[dim], src.dtype.itemsize())});
  }
  Loop::Offsets start;
  loops.resize(Normalize<NormalForm{}>(loops.data(), static_cast<int>(loops.size()), &start));
  std::reverse(loops.begin(), loops.end());
  elements.dst += start.dst;
  elements.src += start.src;
  int64_t dst_steps = 0, src_steps = 0;
  for (const Loop& loop : loops) {
    dst_steps |= loop.dst_step;
    src_steps |= loop.src_step;
  }
  if (IsMisaligned(elements.dst, dst_steps, to.itemsize()) ||
      IsMisaligned(elements.src, src_steps, from.itemsize())) {
    return absl::UnimplementedError(
        "A cast on a GPU needs memory that is aligned to its elements; the host casts.");
  }
  elements.run_bytes = to.itemsize();
  merged->from = from;
  merged->to = to;
  if (adds_parts) {
    merged->zeros = elements;
    merged->zeros->dst += to.itemsize();
  }
  return absl::OkStatus();
}

absl::Status ForEachCastLaunch(const MergedCast& cast, CastTable table,
                               absl::FunctionRef<absl::Status(const CastLaunch&)> take,
                               const LaunchLimits& limits) {
  if (cast.elements.run_bytes == 0) return absl::OkStatus();
  const Part whole{cast.elements.dst, cast.elements.src, cast.elements.loops};
  CastArguments arguments;
  TableCastArguments of_table;
  if (cast.from.bits == 8) {
    if (absl::Status s = table(cast.from, cast.to, of_table.table); !s.ok()) return s;
  } else {
    arguments.formats = CastFormatsOf(cast.from.part(), cast.to);
  }
  const auto take_launch = [&](const CopyLaunch& launch) {
    if (launch.kernel <= KernelId::dovetail_cast_tables_8) {
      of_table.copy = launch.arguments;
      return take({launch.kernel, launch.blocks, &of_table});
    }
    arguments.copy = launch.arguments;
    arguments.stores_words = StoresWords(launch.arguments, cast.to.itemsize());
    return take({launch.kernel, launch.blocks, &arguments});
  };
  return Planner(cast, take_launch, limits).Run(whole);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
