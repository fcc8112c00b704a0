// What a stand-in for a vendor's driver answers from. The driver's C functions, in
// devices/cuda/testing/driver and devices/rocm/testing/driver, turn the vendor's types into ours
// and call a RuntimeApi. Each stand-in defines GetBacking:
//
//   fake.cc                FixedRuntime, and a log of the calls: both vendors' stand-ins for tests
//                          of devices/cuda and devices/rocm
//   tests/emulated_cuda    the emulator
//   tests/forwarding_hip   CUDA's runtime, behind HIP's functions

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_BACKING_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_BACKING_H_

#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace vendor_driver {

using dovetail::NativeStream;
using dovetail::gpu::Result;
using dovetail::gpu::RuntimeApi;

// Answers of Backing::pool_of that name no device.
inline constexpr int kNoPool = -1;
inline constexpr int kOtherPool = 255;  // of another library

struct Backing {
  const RuntimeApi* api = nullptr;  // nullptr: there is no device
  int version = 0;                  // as the vendor numbers it
  bool logs = false;                // each call goes into the log of fake_log.h
  // The vendor's number of a result of `api`. nullptr: it is the result.
  Result (*code)(Result result) = nullptr;
  // The device in whose pool `ptr` is. nullptr: no memory is in one.
  int (*pool_of)(const void* ptr) = nullptr;
  // A stream that the legacy stream waits for. nullptr: the driver refuses to make one.
  NativeStream (*make_blocking_stream)(int device) = nullptr;
};

// The same object in each call. Any thread.
const Backing& GetBacking();

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_BACKING_H_
