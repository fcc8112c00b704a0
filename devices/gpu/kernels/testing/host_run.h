// Runs a kernel launch on the host with the device's code: block after block and, between barriers,
// thread after thread. For emulators and tests.
//
//   void* arguments[] = {&copy_arguments};
//   bool known = RunKernelOnHost("dovetail_copy_4", blocks, arguments, [](const void* p) {
//     return const_cast<void*>(p);               // the host's address of p
//   });
//
// Any thread; throws nothing. A translated address must have the alignment of the address.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Size of the kernel's argument in bytes; 0 for an unknown name.
int KernelArgumentBytes(std::string_view name);

// `arguments` is as for a launch: an array with one pointer to the argument, which is only read.
// False for an unknown name; nothing is done then.
bool RunKernelOnHost(std::string_view name, uint32_t blocks, void** arguments,
                     absl::FunctionRef<void*(const void*)> translate);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_TESTING_HOST_RUN_H_
