// All backends of this repository: the CPU's, CUDA's and ROCm's.
//
//   dovetail::RegisterAllBackends();      // once, before tensors are made or copied
//
// Nothing is opened: a driver is loaded at the first call that needs it, and where there is none
// its backend has no devices. A program that wants the CPU alone calls RegisterDefaultBackends; one
// that wants a single vendor adds RegisterCudaBackend or RegisterRocmBackend.

#ifndef DOVETAIL_DEVICES_REGISTER_ALL_H_
#define DOVETAIL_DEVICES_REGISTER_ALL_H_

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

// Registers them with Registry::Global(); what serves a device type already stays. Later calls do
// nothing. Any thread.
void RegisterAllBackends();

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_REGISTER_ALL_H_
