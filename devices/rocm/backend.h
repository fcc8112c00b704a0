// ROCm as a backend: ROCm devices and pinned host memory.
//
//   absl::Status s = RegisterRocmBackend(Registry::Global());      // opens nothing
//   (*BackendFor(Device::Rocm(0)))->DeviceCount();                 // opens the library
//
// The first call that needs HIP's runtime library (libamdhip64.so) opens it. Without the library
// there are no devices, and DeviceCount's status says why.

#ifndef DOVETAIL_DEVICES_ROCM_BACKEND_H_
#define DOVETAIL_DEVICES_ROCM_BACKEND_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// AlreadyExists if another backend serves one of the vendor's device types.
absl::Status RegisterRocmBackend(Registry& registry);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_BACKEND_H_
