#include "dovetail/devices/register_default.h"

#include "dovetail/core/registry.h"
#include "dovetail/devices/cpu/backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

void internal_linkage::RegisterDefault() {
  // The only error is that the program registered a CPU backend of its own before: that one stays.
  static const bool registered = RegisterCpuBackend(Registry::Shared()).ok();
  (void)registered;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
