// Makes the C struct of core/abi/backend_abi.h from a DeviceBackend, for another shared object.
//
//   DovetailBackend* c = ExportBackend(std::move(backend));      // the receiver calls release
//
// The struct's `release` frees the struct and the backend.

#ifndef DOVETAIL_CORE_ABI_EXPORT_H_
#define DOVETAIL_CORE_ABI_EXPORT_H_

#include <memory>

#include "dovetail/core/abi/backend_abi.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

DovetailBackend* ExportBackend(std::unique_ptr<DeviceBackend> backend);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ABI_EXPORT_H_
