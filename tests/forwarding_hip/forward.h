// The common part of the forwarding library: CUDA's runtime, and HIP's rules on top of it (each
// thread has a current device and a last error; 0 is the legacy stream).
//
// Environment variables:
//   DOVETAIL_FORWARDED_DEVICES=2     HIP has two devices, however many CUDA has. Device i is CUDA's
//                                    device i modulo the number of those, so that code for two
//                                    devices runs on a machine with one GPU
//   DOVETAIL_FORWARDED_PEERS=0       such devices have no access to each other's memory

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_

#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "hip/hip_runtime_api.h"

namespace forwarding_hip {

using dovetail::NativeStream;
using dovetail::gpu::RuntimeApi;

// CUDA's runtime; nullptr if it can't be loaded.
const RuntimeApi* Cuda();

// The current device of this thread, by HIP's number.
int& CurrentDevice();

// CUDA's number of HIP's device.
int RealDevice(int device);
// Whether two of HIP's devices are one GPU.
inline bool AreOneGpu(int a, int b) { return RealDevice(a) == RealDevice(b); }
// Whether devices that are one GPU have access to each other's memory.
bool HavePeers();

// Stores this thread's last error, for hipGetLastError.
hipError_t Keep(int result);
hipError_t TakeLastError();

// Calls function(api, args…) of CUDA's runtime with the thread's device current.
template <typename Function, typename... Args>
hipError_t Forward(Function RuntimeApi::* function, Args... args) {
  const RuntimeApi* cuda = Cuda();
  if (cuda == nullptr) return Keep(hipErrorNoDevice);
  void* previous;
  int result = cuda->push_device(cuda->self, RealDevice(CurrentDevice()), &previous);
  if (result == 0) {
    result = (cuda->*function)(cuda->self, args...);
    cuda->pop_device(cuda->self, previous);
  }
  return Keep(result);
}

// HIP's null stream is CUDA's legacy stream. All other values are handles, or mean the same on
// both.
inline NativeStream StreamOf(hipStream_t stream) {
  const auto number = reinterpret_cast<uintptr_t>(stream);
  return NativeStream{number == 0 ? 1 : number};
}

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_
