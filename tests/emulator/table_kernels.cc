// RuntimeApi's kernels. A NativeFunction is the name of a kernel of Dovetail, or a HostKernel.

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/testing/host_run.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/tests/emulator/call.h"
#include "dovetail/tests/emulator/host_kernel.h"

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

// The memory at an address that a kernel on this stream is given.
Result ResolveForKernel(Impl& impl, const Queue* queue, const void* data, Access* access) {
  const Result r = impl.Resolve(data, 1, queue->device, false, "A kernel's access", access);
  if (r != kOk || !access->is_host()) return r;
  impl.Complain("A kernel was given memory that is none of the GPU's.");
  return Code(ResultClass::kInvalidValue);
}

bool IsNameOfKernel(NativeFunction function) {
  return std::find(std::begin(gpu::kKernelNames), std::end(gpu::kKernelNames), function) !=
         std::end(gpu::kKernelNames);
}

// An argument of a HostKernel.
struct HostArgument {
  std::vector<unsigned char> bytes;
  Access memory;  // of an address
};

using Dimensions = std::array<uint32_t, 3>;

Result LaunchHostKernel(Impl& impl, Queue* queue, const HostKernel& kernel, const Dimensions& grid,
                        const Dimensions& block, void** args) {
  constexpr uint64_t kMostThreads = 1024;  // in a block
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  const bool has_blocks = grid[0] != 0 && grid[1] != 0 && grid[2] != 0;
  if (threads == 0 || threads > kMostThreads || !has_blocks) {
    return Code(ResultClass::kInvalidValue);
  }
  std::vector<HostArgument> arguments(static_cast<size_t>(kernel.num_parameters));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(args[i]);
    arguments[i].bytes.assign(bytes, bytes + kernel.parameters[i].nbytes);
    if (!kernel.parameters[i].is_address) continue;
    const void* address;
    std::memcpy(&address, bytes, sizeof(address));
    if (address == nullptr) continue;
    const Result r = ResolveForKernel(impl, queue, address, &arguments[i].memory);
    if (r != kOk) return r;
  }
  return impl.Add(queue, [&impl, kernel, grid, block, arguments = std::move(arguments)]() mutable {
    std::vector<void*> pointers;
    for (HostArgument& argument : arguments) {
      pointers.push_back(argument.bytes.data());
      if (argument.memory.is_host()) continue;
      impl.CheckAtRun(argument.memory, "A kernel");
      void* const reached = impl.Reach(argument.memory);
      std::memcpy(argument.bytes.data(), &reached, sizeof(reached));
    }
    kernel.run(kernel.function, grid.data(), block.data(), pointers.data());
  });
}

Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t, NativeStream stream, void** args) {
  Call call(self);
  ++call->counts.launches;
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if (!IsNameOfKernel(function)) {
    return LaunchHostKernel(*call, queue, *static_cast<const HostKernel*>(function),
                            {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, args);
  }
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
    const Result r = ResolveForKernel(*call, queue, data, &access);
    if (r != kOk) result = r;
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
