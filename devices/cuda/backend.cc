#include "dovetail/devices/cuda/backend.h"

#include "dovetail/devices/cuda/runtime.h"
#include "dovetail/devices/gpu/backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

absl::Status RegisterCudaBackend(Registry& registry) {
  return gpu::RegisterGpuBackend(registry, gpu::CudaRuntimeApi());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
