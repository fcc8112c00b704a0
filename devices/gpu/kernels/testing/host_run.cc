#include "dovetail/devices/gpu/kernels/testing/host_run.h"

#include <cstring>

#include "dovetail/devices/gpu/kernels/cast.h"
#include "dovetail/devices/gpu/kernels/cast_tile.h"
#include "dovetail/devices/gpu/kernels/gather.h"
#include "dovetail/devices/gpu/kernels/linear.h"
#include "dovetail/devices/gpu/kernels/progression.h"
#include "dovetail/devices/gpu/kernels/shifted_tile.h"
#include "dovetail/devices/gpu/kernels/tile.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

template <typename Kernel, int kPhase>
void RunPhase(const typename Kernel::Arguments& arguments, uint32_t block, unsigned char* shared) {
  for (uint32_t thread = 0; thread < kBlockThreads; ++thread) {
    Kernel::template Run<kPhase>(arguments, block, thread, shared);
  }
}

using Translate = absl::FunctionRef<void*(const void*)>;

void TranslateAddresses(CopyArguments& arguments, Translate translate) {
  arguments.dst = static_cast<unsigned char*>(translate(arguments.dst));
  arguments.src = static_cast<const unsigned char*>(translate(arguments.src));
}
void TranslateAddresses(CastArguments& arguments, Translate translate) {
  TranslateAddresses(arguments.copy, translate);
}
void TranslateAddresses(TableCastArguments& arguments, Translate translate) {
  TranslateAddresses(arguments.copy, translate);
}
void TranslateAddresses(ProgressionArguments& arguments, Translate translate) {
  arguments.dst = static_cast<unsigned char*>(translate(arguments.dst));
}
void TranslateAddresses(FillArguments& arguments, Translate translate) {
  arguments.dst = static_cast<unsigned char*>(translate(arguments.dst));
}

template <typename Kernel>
void RunBlocks(uint32_t blocks, const void* argument, Translate translate) {
  typename Kernel::Arguments arguments;
  std::memcpy(&arguments, argument, sizeof(arguments));
  TranslateAddresses(arguments, translate);
  alignas(16) unsigned char shared[Kernel::kSharedBytes + 1];
  for (uint32_t block = 0; block < blocks; ++block) {
    RunPhase<Kernel, 0>(arguments, block, shared);
    if constexpr (Kernel::kPhases == 2) RunPhase<Kernel, 1>(arguments, block, shared);
  }
}

struct HostKernel {
  std::string_view name;
  int argument_bytes;
  void (*run)(uint32_t blocks, const void* argument, Translate translate);
};

constexpr HostKernel kHostKernels[] = {
#define DOVETAIL_GPU_KERNEL(name, ...) \
  {#name, sizeof(__VA_ARGS__::Arguments), &RunBlocks<__VA_ARGS__>},
#include "dovetail/devices/gpu/kernels/kernel_list.inc"
#undef DOVETAIL_GPU_KERNEL
};

const HostKernel* Find(std::string_view name) {
  for (const HostKernel& kernel : kHostKernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace

int KernelArgumentBytes(std::string_view name) {
  const HostKernel* kernel = Find(name);
  return kernel != nullptr ? kernel->argument_bytes : 0;
}

bool RunKernelOnHost(std::string_view name, uint32_t blocks, void** arguments,
                     Translate translate) {
  const HostKernel* kernel = Find(name);
  if (kernel == nullptr) return false;
  kernel->run(blocks, arguments[0], translate);
  return true;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
