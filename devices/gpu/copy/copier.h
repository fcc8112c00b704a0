// Copier: copies, casts and fills of strided elements that a GPU takes part in.
//
//   absl::Status s = copier.Copy(dst, src, stream);
//
// The first way that applies is taken:
//   one contiguous run on each side          one call of the driver, also between devices
//   one host element repeated everywhere     a fill
//   the device can access both sides         a kernel; without kernels, a 2D copy per rectangle
//   pageable host memory on one side         through pinned staging blocks, which the CPU packs
//   two devices, and a kernel reaches both   that kernel, on the stream's device
//   two other devices                        packed on one, sent, unpacked on the other; what is
//                                            dense is sent as it lies, or into its place
//   elements that share bytes                through the host
// A cast is one kernel, for memory that the stream's device reaches; any other is Unimplemented.
//
// Ordered on `stream`. The host waits for copies through staging blocks and through the host, so
// that these can't be captured into a graph, nor can those that need temporary memory:
// FailedPrecondition. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_COPY_COPIER_H_
#define DOVETAIL_DEVICES_GPU_COPY_COPIER_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/progression.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/gpu/context.h"
#include "dovetail/devices/gpu/copy/kernel_modules.h"
#include "dovetail/devices/gpu/copy/peers.h"
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
        peers_(context.runtime),
        staging_(context.runtime, context.events) {}

  // As DeviceBackend::Copy.
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream);

  // As DeviceBackend::CastCopy.
  absl::Status Cast(const TensorView& dst, const TensorView& src, const Stream& stream);

  // As DeviceBackend::Fill.
  absl::Status Fill(const TensorView& dst, const void* element, const Stream& stream);

  // As DeviceBackend::Arange.
  absl::Status Arange(const TensorView& dst, const Progression& numbers, const Stream& stream);

  KernelModules& modules() { return modules_; }

 private:
  // One Copy or Fill.
  struct Job {
    TensorView dst, src;
    const Stream& stream;
    NativeStream native;
    int device;  // of the stream

    bool IsDeviceMemory(const TensorView& view) const {
      return !IsHostAccessible(view.device.type);
    }
    // Whether the memory is of another device than the stream.
    bool IsFar(const TensorView& view) const {
      return IsDeviceMemory(view) && view.device.index != device;
    }
  };

  absl::Status CopyRun(const Job& job, const MergedCopy& copy);
  absl::Status CopyLoops(const Job& job, const MergedCopy& copy);
  absl::Status CopyReachable(const Job& job, const TensorView& dst, const TensorView& src);
  // fill.cc
  absl::Status WithinDevice(const TensorView& dst, const Stream& stream,
                            absl::FunctionRef<absl::Status(const Job&)> work);
  absl::Status FillRun(const Job& job, unsigned char* dst, int64_t nbytes, const void* pattern,
                       int64_t width);
  absl::Status FillDevice(const Job& job, const TensorView& dst, const void* element);
  absl::Status FillLoops(const Job& job, const MergedCopy& fill, const void* element, int64_t size);
  absl::Status CheckMayWait(const Job& job);
  void GiveBackBlock(const Job& job, StagingBlock block);
  absl::Status CopyFromHost(const Job& job, const TensorView& dst, const TensorView& src);
  absl::Status CopyToHost(const Job& job, const TensorView& dst, const TensorView& src);
  // between_devices.cc
  absl::Status CopyBetweenDevices(const Job& job, const MergedCopy& copy);
  absl::Status SendFromFar(const Job& job);
  absl::Status SendToFar(const Job& job);
  absl::Status Send(const TensorView& dst, const TensorView& src, void* to, const void* from,
                    size_t nbytes, const Stream& stream);
  absl::Status CopyThroughHost(const Job& job);
  absl::StatusOr<Stream> InnerStream(Device device);
  // cast.cc
  bool HasAllKernels(int device);

  GpuContext& context_;
  TemporaryAllocator temporaries_;
  KernelModules modules_;
  Peers peers_;
  Staging staging_;
  absl::Mutex mutex_;
  // By device: where the far side of copies works. None until it is needed.
  std::vector<std::optional<Stream>> inner_streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_COPIER_H_
