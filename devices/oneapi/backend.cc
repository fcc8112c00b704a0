#include "dovetail/devices/oneapi/backend.h"

#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/oneapi/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

absl::Status RegisterOneApiBackend(Registry& registry) {
  return gpu::RegisterGpuBackend(registry, gpu::OneApiRuntimeApi());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
