// The backends that every program wants: today the CPU's.
//
//   dovetail::RegisterDefaultBackends();      // once, before tensors are made or copied
//
// Nothing is registered by loading the library. A program that wants a GPU adds its backend with
// one more call.

#ifndef DOVETAIL_DEVICES_REGISTER_DEFAULT_H_
#define DOVETAIL_DEVICES_REGISTER_DEFAULT_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Registers them with Registry::Global(). Later calls do nothing. Any thread.
void RegisterDefaultBackends();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_REGISTER_DEFAULT_H_
