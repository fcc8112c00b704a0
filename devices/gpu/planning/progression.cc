#include "dovetail/devices/gpu/planning/progression.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/gpu/kernels/progression.h"
#include "dovetail/devices/gpu/planning/cast_formats.h"
#include "dovetail/devices/gpu/planning/launch_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

struct Choice {
  KernelId kernel;
  int units_per_block;
};
Choice KernelFor(int64_t bytes) {
  switch (bytes) {
    case 1:
      return {KernelId::dovetail_progression_1, LinearProgression<1>::kUnitsPerBlock};
    case 2:
      return {KernelId::dovetail_progression_2, LinearProgression<2>::kUnitsPerBlock};
    case 4:
      return {KernelId::dovetail_progression_4, LinearProgression<4>::kUnitsPerBlock};
    default:
      return {KernelId::dovetail_progression_8, LinearProgression<8>::kUnitsPerBlock};
  }
}

}  // namespace

absl::Status ForEachProgressionLaunch(
    const TensorView& dst, const Progression& numbers,
    absl::FunctionRef<absl::Status(const ProgressionLaunch&)> take, const LaunchLimits& limits) {
  const int64_t item = dst.dtype.itemsize();
  if (!IsCastable(dst.dtype) || reinterpret_cast<uintptr_t>(dst.data) % item != 0) {
    return absl::UnimplementedError("No kernel makes numbers of this type; the host makes them.");
  }
  int64_t count = 1;
  for (int64_t size : dst.shape) count *= size;
  const Choice choice = KernelFor(item);
  ProgressionLaunch launch{choice.kernel, 0, {}};
  ProgressionArguments& a = launch.arguments;
  a.is_integer = numbers.is_integer;
  a.start = static_cast<uint64_t>(numbers.start);
  a.step = static_cast<uint64_t>(numbers.step);
  a.real_start = numbers.real_start;
  a.real_step = numbers.real_step;
  a.formats = CastFormatsOf(numbers.is_integer ? kInt64 : kFloat64, dst.dtype);
  if (a.formats.to == NumberKind::kNarrowFloat) {
    // Rounded once, as all numbers that the host writes one by one.
    a.formats.from = NumberKind::kFloat;
    a.formats.narrow.rounds_doubles_to_odd = true;
  }
  const int64_t most = std::min(limits.units, limits.blocks * choice.units_per_block);
  for (int64_t first = 0; first < count; first += most) {
    const int64_t units = std::min(most, count - first);
    a.dst = static_cast<unsigned char*>(dst.data) + first * item;
    a.first = static_cast<uint64_t>(first);
    a.units = static_cast<uint32_t>(units);
    launch.blocks = BlocksOf(units, choice.units_per_block);
    if (absl::Status s = take(launch); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
