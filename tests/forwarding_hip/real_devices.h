// The parts of SharedGpuApi (shared_gpu.h): which of CUDA's devices a device is, and the functions
// of RuntimeApi that differ from CUDA's.

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_REAL_DEVICES_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_REAL_DEVICES_H_

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

void FillDevices(RuntimeApi& api);
void FillMemory(RuntimeApi& api);
void FillStreams(RuntimeApi& api);

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_REAL_DEVICES_H_
