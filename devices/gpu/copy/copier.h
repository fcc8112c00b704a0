// Copier: copies of strided elements that a GPU takes part in.
//
//   absl::Status s = copier.Copy(dst, src, stream);
//
// The first way that applies is taken:
//   one contiguous run on each side          one call of the driver, also between devices
//   one host element repeated everywhere     a fill
//   the device can access both sides         a kernel; without kernels, a 2D copy per rectangle
//   pageable host memory on one side         through pinned staging blocks, which the CPU packs
//   two devices                              packed on one, sent, unpacked on the other
//   elements that share bytes                through the host
//
// Ordered on `stream`. The host waits for copies through staging blocks and through the host, so
// that these can't be captured into a graph: FailedPrecondition. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_COPY_COPIER_H_
#define DOVETAIL_DEVICES_GPU_COPY_COPIER_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/gpu/context.h"
#include "dovetail/devices/gpu/copy/kernel_modules.h"
#include "dovetail/devices/gpu/copy/staging.h"
#include "dovetail/devices/gpu/planning/merge.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class Copier {
 public:
  // The allocator of temporary dense copies.
  using TemporaryAllocator = std::function<absl::StatusOr<Allocator*>(Device)>;

  Copier(GpuContext& context, TemporaryAllocator temporaries)
      : context_(context),
        temporaries_(std::move(temporaries)),
        modules_(context.runtime),
        staging_(context.runtime, context.events) {}

  // As DeviceBackend::Copy.
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream);

  // As DeviceBackend::Fill.
  absl::Status Fill(const TensorView& dst, const void* element, const Stream& stream);

  KernelModules& modules() { return modules_; }

 private:
  struct Job;  // one Copy or Fill

  absl::Status CopyRun(const Job& job, const MergedCopy& copy);
  absl::Status CopyLoops(const Job& job, const MergedCopy& copy);
  absl::Status CopyReachable(const Job& job, const TensorView& dst, const TensorView& src);
  absl::Status FillRun(const Job& job, unsigned char* dst, int64_t nbytes, const void* pattern,
                       int64_t width);
  absl::Status FillDevice(const Job& job, const TensorView& dst, const void* element);
  absl::Status CheckMayWait(const Job& job);
  void GiveBackBlock(const Job& job, StagingBlock block);
  absl::Status CopyFromHost(const Job& job, const TensorView& dst, const TensorView& src);
  absl::Status CopyToHost(const Job& job, const TensorView& dst, const TensorView& src);
  absl::Status CopyBetweenDevices(const Job& job);
  absl::Status CopyThroughHost(const Job& job);

  GpuContext& context_;
  TemporaryAllocator temporaries_;
  KernelModules modules_;
  Staging staging_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_COPIER_H_
