// Runs a launch of a kernel on the host, by the very functions that the device runs: block after
// block, and in each block thread after thread between two barriers. For emulators and tests.
//
//   void* arguments[] = {&copy_arguments};
//   bool known = RunKernelOnHost("dovetail_copy_4", blocks, arguments, [](const void* p) {
//     return const_cast<void*>(p);               // where the host reaches what the device calls p
//   });
//
// Any thread; throws nothing. What an address is translated to must be aligned as the address is.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// How many bytes of arguments the kernel takes; 0 for a name that is no kernel's.
int KernelArgumentBytes(std::string_view name);

// `arguments` is what a launch takes: a pointer to the kernel's one argument, which is only read.
// False, and nothing is done, for a name that is no kernel's.
bool RunKernelOnHost(std::string_view name, uint32_t blocks, void** arguments,
                     absl::FunctionRef<void*(const void*)> translate);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_
