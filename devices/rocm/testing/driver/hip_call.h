// HIP's rules for calls of its runtime (devices/gpu/vendor/testing/driver/call.h): each thread has
// a current device and a last error, and the stream 0 is the legacy one.
//
// HIP_MAJOR is the version that the library is of: 5 and 6 number memory types differently and have
// other functions.

#ifndef DOVETAIL_DEVICES_ROCM_TESTING_DRIVER_HIP_CALL_H_
#define DOVETAIL_DEVICES_ROCM_TESTING_DRIVER_HIP_CALL_H_

#include "dovetail/devices/gpu/vendor/testing/driver/functions.h"
#include "hip/hip_runtime_api.h"

namespace vendor_driver {

struct Hip {
  using Error = hipError_t;
  static constexpr Error kInvalidValue = hipErrorInvalidValue;
  static constexpr Error kNotSupported = hipErrorNotSupported;
  static constexpr Error kNoImage = hipErrorNoBinaryForGpu;

  static Error Ready() { return GetBacking().api != nullptr ? hipSuccess : hipErrorNoDevice; }
  static Error GetDevice(int* device) {
    *device = Current();
    return hipSuccess;
  }
  // Stores the error for hipGetLastError. HIP does not count "not ready" as one.
  static Error Returned(Error error);

  // The device of this thread.
  static int& Current();
};
using HipCall = Call<Hip>;

inline NativeStream HipStreamOf(hipStream_t stream) {
  const RuntimeApi* api = GetBacking().api;
  return stream == nullptr && api != nullptr ? api->legacy_stream : StreamOf(stream);
}

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_ROCM_TESTING_DRIVER_HIP_CALL_H_
