// RuntimeApi's kernels. A NativeFunction is the name of a kernel.

#include <cstring>
#include <map>
#include <utility>

#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/testing/host_run.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/tests/emulator/call.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

using Impl = Emulator::Impl;
using gpu::NativeFunction;
using gpu::NativeModule;

gpu::KernelImage GetKernelImage(void* self, int) {
  if (!Call(self)->options.has_kernels)
    return {nullptr, 0, "The emulator was made without kernels."};
  static const char image = 0;
  return {&image, 1, ""};
}
Result ModuleLoad(void* self, const gpu::KernelImage* image, NativeModule* module) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  *module = const_cast<void*>(image->data);
  return kOk;
}
Result ModuleFunction(void*, NativeModule, const char* name, NativeFunction* function) {
  for (const char* known : gpu::kKernelNames) {
    if (std::strcmp(known, name) == 0) {
      *function = const_cast<char*>(known);
      return kOk;
    }
  }
  return Code(ResultClass::kInvalidValue);
}
Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t, NativeStream stream, void** args) {
  Call call(self);
  ++call->counts.launches;
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if (block[0] != static_cast<uint32_t>(gpu::kBlockThreads) || block[1] != 1 || block[2] != 1 ||
      grid[0] == 0 || grid[1] != 1 || grid[2] != 1 ||
      uint64_t{grid[0]} * block[0] > call->options.vendor->max_launch_threads) {
    return Code(ResultClass::kInvalidValue);
  }
  const char* name = static_cast<const char*>(function);
  const auto* bytes = static_cast<const char*>(args[0]);
  auto arguments =
      std::make_shared<std::vector<char>>(bytes, bytes + gpu::KernelArgumentBytes(name));
  // Without blocks, this only translates the addresses, during the caller's call.
  auto accesses = std::make_shared<std::map<const void*, Access>>();
  void* parameters[] = {arguments->data()};
  gpu::RunKernelOnHost(name, 0, parameters, [&](const void* data) -> void* {
    Access access;
    const Result r = call->Resolve(data, 1, queue->device, false, "A kernel's access", &access);
    if (r != kOk) result = r;
    if (r == kOk && access.is_host()) {
      call->Complain("A kernel was given memory that is none of the GPU's.");
      result = Code(ResultClass::kInvalidValue);
    }
    accesses->emplace(data, access);
    return nullptr;
  });
  if (result != kOk) return result;
  Impl* impl = &*call;
  return call->Add(queue, [impl, name, blocks = grid[0], arguments, accesses] {
    void* again[] = {arguments->data()};
    gpu::RunKernelOnHost(name, blocks, again, [&](const void* data) {
      const Access& access = accesses->at(data);
      impl->CheckAtRun(access, "A kernel");
      return impl->Reach(access);
    });
  });
}

}  // namespace

void FillKernels(gpu::RuntimeApi& api) {
  api.kernel_image = &GetKernelImage;
  api.module_load = &ModuleLoad;
  api.module_function = &ModuleFunction;
  api.launch = &Launch;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
