// The launches that carry out a merged copy or a fill: which kernel, how many blocks, which
// arguments.
//
//   absl::Status s = ForEachCopyLaunch(copy, [&](const CopyLaunch& launch) {
//     return Launch(KernelName(launch.kernel), launch.blocks, &launch.arguments);
//   });
//
// Almost always one launch; a copy of 2^31 units or more takes several. Nothing here touches the
// memory. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/planning/merge.h"

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

// Calls take() for each launch, until one fails. `max_units` is for tests.
absl::Status ForEachCopyLaunch(const MergedCopy& copy,
                               absl::FunctionRef<absl::Status(const CopyLaunch&)> take,
                               int64_t max_units = kMaxLaunchUnits);

// `element` points at the `item_bytes` bytes of an element of the tensor that MergeFill was given.
// InvalidArgument where that is not 1, 2, 4, 8 or 16: such a fill is a copy of an element, with
// steps of 0.
absl::Status ForEachFillLaunch(const MergedCopy& fill, const void* element, int64_t item_bytes,
                               absl::FunctionRef<absl::Status(const FillLaunch&)> take,
                               int64_t max_units = kMaxLaunchUnits);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_LAUNCHES_H_
