// The CPU backend: one device with one stream, whose work is done when the call returns.
//
//   absl::Status s = RegisterCpuBackend(Registry::Global());

#ifndef DOVETAIL_DEVICES_CPU_BACKEND_H_
#define DOVETAIL_DEVICES_CPU_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

std::unique_ptr<DeviceBackend> MakeCpuBackend();

// AlreadyExists if a backend is registered for the CPU.
absl::Status RegisterCpuBackend(Registry& registry);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_BACKEND_H_
