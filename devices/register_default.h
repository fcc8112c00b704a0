// The backends that every program wants: today the CPU's.
//
//   dovetail::RegisterDefaultBackends();      // once, before tensors are made or copied
//
// Nothing is registered by loading the library. A program that wants a GPU adds its backend with
// one more call.

#ifndef DOVETAIL_DEVICES_REGISTER_DEFAULT_H_
#define DOVETAIL_DEVICES_REGISTER_DEFAULT_H_

#include "dovetail/core/config.h"
#include "dovetail/core/linkage/one_copy.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_linkage {
void RegisterDefault();
}

// Registers them with Registry::Global(). Later calls do nothing. Any thread.
[[gnu::always_inline]] inline void RegisterDefaultBackends() {
  CheckOneCopy();
  internal_linkage::RegisterDefault();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_REGISTER_DEFAULT_H_
