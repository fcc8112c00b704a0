// The kernels by number and name.
//
//   KernelName(KernelId::dovetail_copy_4)      // "dovetail_copy_4", its name in the module
//
// Made from kernels/kernel_list.inc. Every launch is one-dimensional: blocks of kBlockThreads
// threads, no dynamic shared memory, one argument (a struct of kernels/arguments.h).

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_KERNEL_TABLE_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_KERNEL_TABLE_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

enum class KernelId : uint8_t {
#define DOVETAIL_GPU_KERNEL(name, ...) name,
#include "dovetail/devices/gpu/kernels/kernel_list.inc"
#undef DOVETAIL_GPU_KERNEL
};

DOVETAIL_NOT_SHARED inline constexpr const char* kKernelNames[] = {
#define DOVETAIL_GPU_KERNEL(name, ...) #name,
#include "dovetail/devices/gpu/kernels/kernel_list.inc"
#undef DOVETAIL_GPU_KERNEL
};
inline constexpr int kKernelCount = sizeof(kKernelNames) / sizeof(kKernelNames[0]);

constexpr const char* KernelName(KernelId id) { return kKernelNames[static_cast<int>(id)]; }

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_KERNEL_TABLE_H_
