// oneAPI as a backend: the devices of SYCL, whose memory is unified shared memory (USM).
//
//   absl::Status s = RegisterOneApiBackend(Registry::Global());    // opens nothing
//   (*BackendFor({DeviceType::kOneApi, 0}))->DeviceCount();        // opens the library
//
// The first call that needs SYCL opens dpctl's C interface (library.h). Without it there are no
// devices, and DeviceCount's status says why. Devices are numbered as SYCL's root devices are.
// Device, pinned and managed memory are the USM kinds device, host and shared; all three are
// kOneApi memory of their device. Streams are in-order queues on the device's default context.

#ifndef DOVETAIL_DEVICES_ONEAPI_BACKEND_H_
#define DOVETAIL_DEVICES_ONEAPI_BACKEND_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// AlreadyExists if another backend serves the device type.
absl::Status RegisterOneApiBackend(Registry& registry);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_BACKEND_H_
