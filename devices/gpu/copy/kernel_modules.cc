#include "dovetail/devices/gpu/copy/kernel_modules.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/kernels/arguments.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

namespace {

bool Contains(KernelSet kernels, std::string_view name) {
  if (kernels == KernelSet::kAll) return true;
  if (absl::StartsWith(name, "dovetail_cast_")) return false;
  if (absl::StartsWith(name, "dovetail_progression_")) return false;
  name.remove_prefix(std::string_view("dovetail_copy_").size());  // as long as dovetail_fill_
  if (absl::ascii_isdigit(name.front())) return true;
  return kernels == KernelSet::kDenseTiles &&
         (absl::StartsWith(name, "gathered_") || name == "tiled_1" || name == "tiled_2" ||
          name == "tiled_4");
}

}  // namespace

void KernelModules::Load(int device, Module& module) {
  const RuntimeApi& api = runtime_.api();
  const KernelImage image = api.kernel_image(api.self, device);
  if (image.data == nullptr) {
    module.status = absl::UnavailableError(image.reason);
    return;
  }
  module.kernels = image.kernels;
  const RelaxedCaptureMode relaxed(runtime_);
  DeviceGuard guard(runtime_, device);
  module.status = guard.status();
  if (!module.status.ok()) return;
  NativeModule native = nullptr;
  module.status = runtime_.Check(api.module_load(api.self, &image, &native), "loading the kernels");
  for (int i = 0; module.status.ok() && i < kKernelCount; ++i) {
    if (!Contains(image.kernels, kKernelNames[i])) continue;
    module.status =
        runtime_.Check(api.module_function(api.self, native, kKernelNames[i], &module.functions[i]),
                       absl::StrCat("looking for the kernel ", kKernelNames[i]));
  }
}

const KernelModules::Module& KernelModules::Get(int device) {
  absl::MutexLock lock(&mutex_);
  if (modules_.size() <= static_cast<size_t>(device)) modules_.resize(device + 1);
  std::unique_ptr<Module>& module = modules_[device];
  if (module == nullptr) {
    module = std::make_unique<Module>();
    Load(device, *module);
  }
  return *module;
}

LaunchLimits KernelModules::Limits(int device) {
  LaunchLimits limits{.kernels = Get(device).kernels};
  const uint64_t blocks = runtime_.vendor().max_launch_threads / kBlockThreads;
  if (blocks < static_cast<uint64_t>(limits.blocks)) limits.blocks = static_cast<int64_t>(blocks);
  return limits;
}

bool KernelModules::Has(int device) { return Get(device).status.ok(); }

std::string KernelModules::Reason(int device) { return std::string(Get(device).status.message()); }

absl::Status KernelModules::Launch(int device, KernelId kernel, uint32_t blocks,
                                   const void* arguments, NativeStream stream) {
  const RuntimeApi& api = runtime_.api();
  const uint32_t grid[3] = {blocks, 1, 1};
  const uint32_t block[3] = {static_cast<uint32_t>(kBlockThreads), 1, 1};
  void* parameters[] = {const_cast<void*>(arguments)};
  const Result result = api.launch(api.self, Get(device).functions[static_cast<int>(kernel)], grid,
                                   block, 0, stream, parameters);
  if (result == 0) return absl::OkStatus();
  return runtime_.Check(result, absl::StrCat("launching ", KernelName(kernel)));
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
