#include "dovetail/devices/register_default.h"

#include "dovetail/core/registry.h"
#include "dovetail/devices/cpu/backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

void RegisterDefaultBackends() {
  // The only error is that the program registered a CPU backend of its own before: that one stays.
  static const bool registered = RegisterCpuBackend(Registry::Global()).ok();
  (void)registered;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
