// CUDA's runtime with as many devices as one likes: device i is CUDA's device i modulo the number
// of those, so that code for two devices runs on a machine with one GPU. Each has memory, a pool,
// streams and events of its own; what another library made is of CUDA's device.
//
// Environment variables:
//   DOVETAIL_FORWARDED_DEVICES=2     there are two devices, however many CUDA has
//   DOVETAIL_FORWARDED_PEERS=0       devices that are one GPU have no access to each other's memory

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_SHARED_GPU_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_SHARED_GPU_H_

#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace forwarding_hip {

// nullptr if CUDA's library can't be loaded. Any thread.
const dovetail::gpu::RuntimeApi* SharedGpuApi();

// Backing::pool_of for its memory.
int PoolOf(const void* ptr);

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_SHARED_GPU_H_
