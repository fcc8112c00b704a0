// Makes a DeviceBackend from the C struct of core/abi/backend_abi.h of another shared object.
//
//   absl::StatusOr<std::unique_ptr<DeviceBackend>> backend = ImportBackend(c);
//   absl::Status s = Registry::Global().Register(*std::move(backend));
//
// The struct must live until its `release` is called, which the backend's destructor does.

#ifndef DOVETAIL_CORE_ABI_IMPORT_H_
#define DOVETAIL_CORE_ABI_IMPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "dovetail/core/abi/backend_abi.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// InvalidArgument for another major version, a struct that is too short, or one that lacks a
// function; the caller then keeps the struct.
absl::StatusOr<std::unique_ptr<DeviceBackend>> ImportBackend(const DovetailBackend* c);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ABI_IMPORT_H_
