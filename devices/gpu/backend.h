// The GPU backend: DeviceBackend over a vendor's RuntimeApi.
//
//   absl::Status s = RegisterGpuBackend(Registry::Global(), api);     // opens nothing yet
//
// Allocators, the default first. Device memory: async (only if the driver has pools), direct,
// caching(async), caching(direct). Pinned memory: pinned, caching(pinned). Managed memory: managed,
// caching(managed).
//
// `api` is copied; `api.self` must outlive the backend. docs/devices/streams.md describes streams
// and captures.
// In a forked child every call is FailedPrecondition, and released memory is leaked.

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

// AlreadyExists if another backend serves one of the vendor's device types.
absl::Status RegisterGpuBackend(Registry& registry, const RuntimeApi& api);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_BACKEND_H_
