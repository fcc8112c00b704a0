// The kernel launches that write an arithmetic progression.
//
//   absl::Status s = ForEachProgressionLaunch(dst, numbers, [&](const ProgressionLaunch& launch) {
//     return Launch(KernelName(launch.kernel), launch.blocks, &launch.arguments);
//   });
//
// Does not access the memory. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_PROGRESSION_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_PROGRESSION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/progression.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/gpu/planning/launches.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using ProgressionLaunch = KernelLaunch<ProgressionArguments>;

// Calls take() for each launch until a call fails. `dst` is contiguous. Unimplemented if its type
// is no real number of whole bytes, or its memory is not aligned to it.
absl::Status ForEachProgressionLaunch(
    const TensorView& dst, const Progression& numbers,
    absl::FunctionRef<absl::Status(const ProgressionLaunch&)> take,
    const LaunchLimits& limits = {});

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_PROGRESSION_H_
