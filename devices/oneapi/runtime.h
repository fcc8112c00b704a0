// RuntimeApi filled from SYCL, through dpctl's C interface.
//
//   const RuntimeApi& api = OneApiRuntimeApi();       // opens nothing
//   std::string reason;
//   if (api.load(api.self, &reason)) ...
//
// A stream's handle is the address of a sycl::queue. An event's handle is a SyclEvent (queues.h).
// One for the process, never destroyed. Any thread.

#ifndef DOVETAIL_DEVICES_ONEAPI_RUNTIME_H_
#define DOVETAIL_DEVICES_ONEAPI_RUNTIME_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

const RuntimeApi& OneApiRuntimeApi();

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_RUNTIME_H_
