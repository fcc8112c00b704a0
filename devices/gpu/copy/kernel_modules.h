// KernelModules: the kernels of devices/gpu/kernels, loaded on each device at their first use.
//
//   if (modules.Has(0)) {
//     s = modules.Launch(0, launch.kernel, launch.blocks, &launch.arguments, stream);
//   }
//
// Modules are never unloaded. A build without kernels for a device is no error: Has() is false, and
// Reason() says why. Any thread; Has needs no current device.

#ifndef DOVETAIL_DEVICES_GPU_COPY_KERNEL_MODULES_H_
#define DOVETAIL_DEVICES_GPU_COPY_KERNEL_MODULES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "dovetail/devices/gpu/runtime/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class KernelModules {
 public:
  explicit KernelModules(Runtime& runtime) : runtime_(runtime) {}

  // Whether the kernels can be launched on the device, which is loaded for that.
  bool Has(int device);
  // Which ones the device has, if it has any, and how large its launches may be.
  LaunchLimits Limits(int device);
  // Why they can't; empty where they can.
  std::string Reason(int device);

  // `arguments` points at the kernel's argument. The device is current and Has was true.
  absl::Status Launch(int device, KernelId kernel, uint32_t blocks, const void* arguments,
                      NativeStream stream);

 private:
  struct Module {
    absl::Status status;
    KernelSet kernels = KernelSet::kAll;
    std::array<NativeFunction, kKernelCount> functions = {};
  };
  const Module& Get(int device);
  void Load(int device, Module& module);

  Runtime& runtime_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Module>> modules_
      ABSL_GUARDED_BY(mutex_);  // by device; null: not yet
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_KERNEL_MODULES_H_
