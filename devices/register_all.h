// All backends of this repository: the CPU's, CUDA's, ROCm's and oneAPI's.
//
//   dovetail::RegisterAllBackends();                   // once, before tensors are made or copied
//   absl::Status s = dovetail::RegisterBackends("cpu,cuda");      // or these alone
//
// Nothing is opened: a driver is loaded at the first call that needs it, and where there is none
// its backend has no devices. A program that wants the CPU alone calls RegisterDefaultBackends; one
// that wants a single vendor adds RegisterCudaBackend, RegisterRocmBackend or
// RegisterOneApiBackend.

#ifndef DOVETAIL_DEVICES_REGISTER_ALL_H_
#define DOVETAIL_DEVICES_REGISTER_ALL_H_

#include <string_view>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/linkage/one_copy.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_linkage {
void RegisterAll();
absl::Status RegisterNamed(std::string_view names);
}  // namespace internal_linkage

// Registers them with Registry::Global(); what serves a device type already stays. Later calls do
// nothing. Any thread.
[[gnu::always_inline]] inline void RegisterAllBackends() {
  CheckOneCopy();
  internal_linkage::RegisterAll();
}

// Those with the names given, separated by commas; blanks around a name mean nothing.
// InvalidArgument, with the names that there are and nothing registered, for another;
// AlreadyExists where one's device types are served.
[[gnu::always_inline]] inline absl::Status RegisterBackends(std::string_view names) {
  CheckOneCopy();
  return internal_linkage::RegisterNamed(names);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_REGISTER_ALL_H_
