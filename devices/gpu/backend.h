// The GPU backend: DeviceBackend over a vendor's RuntimeApi.
//
//   absl::Status s = RegisterGpuBackend(Registry::Global(), api);     // opens nothing yet
//
// Allocators of device memory: async (the default, where the driver has pools), direct,
// caching(async), caching(direct); of pinned memory: pinned, caching(pinned); of managed memory:
// managed, caching(managed). `api` is copied; what its `self` points at lives as long as the
// backend.
//
// Streams and capture: docs/gpu.md. In a forked child every call is FailedPrecondition, and memory
// that is let go there is not given back.

#ifndef DOVETAIL_DEVICES_GPU_BACKEND_H_
#define DOVETAIL_DEVICES_GPU_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

std::unique_ptr<DeviceBackend> MakeGpuBackend(const RuntimeApi& api);

// AlreadyExists when something serves one of the vendor's device types already.
absl::Status RegisterGpuBackend(Registry& registry, const RuntimeApi& api);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_BACKEND_H_
