// A DeviceBackend as the C struct of core/abi/backend_abi.h, for another shared object to register.
//
//   DovetailBackend* c = ExportBackend(std::move(backend));      // whoever takes it calls release
//
// The struct and the backend live until its `release` is called, which frees both.

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
