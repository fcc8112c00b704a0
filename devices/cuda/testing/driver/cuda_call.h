// CUDA's rules for calls of its driver (devices/gpu/vendor/testing/driver/call.h): cuInit comes
// first, and each thread has a stack of contexts.

#ifndef DOVETAIL_DEVICES_CUDA_TESTING_DRIVER_CUDA_CALL_H_
#define DOVETAIL_DEVICES_CUDA_TESTING_DRIVER_CUDA_CALL_H_

#include <cstdint>

#include "cuda.h"
#include "dovetail/devices/gpu/vendor/testing/driver/functions.h"

namespace vendor_driver {

// 0xc1 is device 1's primary context, 0xd1 one that another library made on device 1.
inline CUcontext ContextOf(int device) {
  return reinterpret_cast<CUcontext>(uintptr_t{0xc0} + device);
}
inline int DeviceOf(CUcontext context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context) & 0xf);
}

struct Cuda {
  using Error = CUresult;
  static constexpr Error kInvalidValue = CUDA_ERROR_INVALID_VALUE;
  static constexpr Error kNotSupported = CUDA_ERROR_NOT_SUPPORTED;
  static constexpr Error kNoImage = CUDA_ERROR_NO_BINARY_FOR_GPU;

  // A process that was forked after cuInit has no driver.
  static Error Ready();
  // CUDA_ERROR_INVALID_CONTEXT if the thread has no context.
  static Error GetDevice(int* device);
  static Error Returned(Error error) { return error; }
};
using CudaCall = Call<Cuda>;

inline void* PointerOf(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_CUDA_TESTING_DRIVER_CUDA_CALL_H_
