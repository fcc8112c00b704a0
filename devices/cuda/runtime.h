// RuntimeApi filled from NVIDIA's driver.
//
//   const RuntimeApi& api = CudaRuntimeApi();       // opens nothing
//   std::string reason;
//   if (api.load(api.self, &reason)) ...
//
// One for the process, never destroyed. Any thread.

#ifndef DOVETAIL_DEVICES_CUDA_RUNTIME_H_
#define DOVETAIL_DEVICES_CUDA_RUNTIME_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

const RuntimeApi& CudaRuntimeApi();

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_RUNTIME_H_
