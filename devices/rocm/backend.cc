#include "dovetail/devices/rocm/backend.h"

#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/rocm/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

absl::Status RegisterRocmBackend(Registry& registry) {
  return gpu::RegisterGpuBackend(registry, gpu::RocmRuntimeApi());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
