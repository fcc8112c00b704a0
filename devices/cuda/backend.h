// CUDA as a backend: CUDA devices, pinned and managed host memory.
//
//   absl::Status s = RegisterCudaBackend(Registry::Global());      // opens nothing
//   (*BackendFor(Device::Cuda(0)))->DeviceCount();                 // opens the driver, or says why
//   not
//
// NVIDIA's driver (libcuda.so.1) is opened at the first call that needs it. Without it there
// are no devices, and a reason that a person can read.

#ifndef DOVETAIL_DEVICES_CUDA_BACKEND_H_
#define DOVETAIL_DEVICES_CUDA_BACKEND_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// AlreadyExists when something serves one of the vendor's device types already.
absl::Status RegisterCudaBackend(Registry& registry);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_BACKEND_H_
