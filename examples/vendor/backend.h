// A vendor's backend, as it would be in a repository of its own. Its device is "ext_dev:0", whose
// memory is addressed by opaque handles instead of pointers, as on many accelerators.
//
//   absl::Status s = vendor::RegisterVendorBackend(dovetail::Registry::Global());
//   dovetail::Tensor t = *dovetail::Tensor::Empty({2, 3}, dovetail::kFloat32, vendor::kDevice);
//
// The "device" is a block of host memory behind each handle, so the example runs anywhere.
// docs/adding-a-backend.md explains this file.

#ifndef DOVETAIL_EXAMPLES_VENDOR_BACKEND_H_
#define DOVETAIL_EXAMPLES_VENDOR_BACKEND_H_

#include <memory>

#include "absl/status/status.h"
#include "dovetail/core/device.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"

namespace vendor {

inline constexpr dovetail::Device kDevice{dovetail::DeviceType::kExtDev, 0};

std::unique_ptr<dovetail::DeviceBackend> MakeVendorBackend();

// AlreadyExists if a backend for ext_dev is already registered.
absl::Status RegisterVendorBackend(dovetail::Registry& registry);

}  // namespace vendor

#endif  // DOVETAIL_EXAMPLES_VENDOR_BACKEND_H_
