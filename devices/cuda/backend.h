// CUDA as a backend: CUDA devices, pinned and managed host memory.
//
//   absl::Status s = RegisterCudaBackend(Registry::Global());      // opens nothing
//   (*BackendFor(Device::Cuda(0)))->DeviceCount();                 // opens the library
//
// The first call that needs NVIDIA's driver (libcuda.so.1) opens it. Without a driver there are no
// devices, and DeviceCount's status says why.

#ifndef DOVETAIL_DEVICES_CUDA_BACKEND_H_
#define DOVETAIL_DEVICES_CUDA_BACKEND_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// AlreadyExists if another backend serves one of the vendor's device types.
absl::Status RegisterCudaBackend(Registry& registry);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_BACKEND_H_
