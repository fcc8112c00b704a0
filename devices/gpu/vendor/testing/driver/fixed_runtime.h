// FixedRuntime: a RuntimeApi of two devices that do nothing. Each function succeeds with the same
// answer every time: runtime_suite.h lists the handles. The vendors' stand-ins that log their calls
// answer from it.
//
// Memory: 0xa… is memory of device 1, of its pool at 0xa1… and of another library's at 0xa3…; 0xb…
// is managed, 0xd… pinned, with a range that is not known; anything else is unknown. Streams:
// 0x5001 is device 1's, any other one is of a context that another library made on device 0.
//
// Environment variable: FAKE_DEVICES=0 sets the number of devices.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FIXED_RUNTIME_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FIXED_RUNTIME_H_

#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace vendor_driver {

// Any thread, like each of its functions.
const dovetail::gpu::RuntimeApi& FixedRuntime();

// Backing::pool_of for its memory.
int FixedPoolOf(const void* ptr);

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FIXED_RUNTIME_H_
