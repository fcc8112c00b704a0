// The kernel launches of a merged copy or fill: kernel, number of blocks, arguments.
//
//   absl::Status s = ForEachCopyLaunch(copy, [&](const CopyLaunch& launch) {
//     return Launch(KernelName(launch.kernel), launch.blocks, &launch.arguments);
//   });
//
// A copy of 2^31 units or more takes several launches, as does one of more blocks than a launch of
// the device may have; any other copy takes one. Does not access the memory. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/planning/merge.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <typename Arguments>
struct KernelLaunch {
  KernelId kernel;
  uint32_t blocks;  // of kBlockThreads threads
  Arguments arguments;
};
using CopyLaunch = KernelLaunch<CopyArguments>;
using FillLaunch = KernelLaunch<FillArguments>;

struct LaunchLimits {
  KernelSet kernels = KernelSet::kAll;  // those that the device has
  int64_t blocks = kMaxLaunchUnits;     // of one launch
  int64_t units = kMaxLaunchUnits;      // of one launch; only tests set it
};

// Calls take() for each launch until a call fails.
absl::Status ForEachCopyLaunch(const MergedCopy& copy,
                               absl::FunctionRef<absl::Status(const CopyLaunch&)> take,
                               const LaunchLimits& limits = {});

// The launches of a fill have at most 2^23 blocks, which every device allows. `element` points to
// one element of `item_bytes` bytes. InvalidArgument if that is not 1, 2, 4, 8
// or 16: copy the element with steps of 0 instead.
absl::Status ForEachFillLaunch(const MergedCopy& fill, const void* element, int64_t item_bytes,
                               absl::FunctionRef<absl::Status(const FillLaunch&)> take,
                               int64_t max_units = kMaxLaunchUnits);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_
