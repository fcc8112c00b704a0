// What the files of the forwarding library share: CUDA's runtime, loaded, and HIP's rules on top of
// it (a current device for each thread, a last error for each thread, 0 as the legacy stream).

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_

#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "hip/hip_runtime_api.h"

namespace forwarding_hip {

using dovetail::NativeStream;
using dovetail::gpu::RuntimeApi;

// CUDA's runtime; nullptr where it can't be loaded.
const RuntimeApi* Cuda();

// The current device of this thread.
int& CurrentDevice();

// Keeps the error of this thread, for hipGetLastError.
hipError_t Keep(int result);
hipError_t TakeLastError();

// Calls function(api, args…) of CUDA's runtime with the thread's device current.
template <typename Function, typename... Args>
hipError_t Forward(Function RuntimeApi::* function, Args... args) {
  const RuntimeApi* cuda = Cuda();
  if (cuda == nullptr) return Keep(hipErrorNoDevice);
  void* previous;
  int result = cuda->push_device(cuda->self, CurrentDevice(), &previous);
  if (result == 0) {
    result = (cuda->*function)(cuda->self, args...);
    cuda->pop_device(cuda->self, previous);
  }
  return Keep(result);
}

// HIP's null stream is CUDA's legacy one; the numbers of the others are handles, or mean the same.
inline NativeStream StreamOf(hipStream_t stream) {
  const auto number = reinterpret_cast<uintptr_t>(stream);
  return NativeStream{number == 0 ? 1 : number};
}

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_FORWARD_H_
