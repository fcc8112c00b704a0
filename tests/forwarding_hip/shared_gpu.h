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

using dovetail::NativeStream;
using dovetail::gpu::Result;
using dovetail::gpu::RuntimeApi;

const RuntimeApi& Cuda();

// CUDA's number of a device.
int RealDevice(int device);
inline bool AreOneGpu(int a, int b) { return RealDevice(a) == RealDevice(b); }
// Whether devices that are one GPU have access to each other's memory.
bool HavePeers();
// The device that this thread has pushed.
int CurrentDevice();

// Replace the functions of CUDA's table that differ.
void FillDevices(RuntimeApi& api);
void FillMemory(RuntimeApi& api);
void FillStreams(RuntimeApi& api);

// Backing::pool_of.
int PoolOf(const void* ptr);

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_SHARED_GPU_H_
