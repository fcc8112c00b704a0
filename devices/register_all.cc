#include "dovetail/devices/register_all.h"

#include "dovetail/core/registry.h"
#include "dovetail/devices/cuda/backend.h"
#include "dovetail/devices/register_default.h"
#include "dovetail/devices/rocm/backend.h"

namespace dovetail::inline DOVETAIL_ABI {

void RegisterAllBackends() {
  static const bool registered = [] {
    RegisterDefaultBackends();
    // The only error is that the program registered a backend of its own before: that one stays.
    const bool cuda = RegisterCudaBackend(Registry::Global()).ok();
    const bool rocm = RegisterRocmBackend(Registry::Global()).ok();
    return cuda && rocm;
  }();
  static_cast<void>(registered);
}

}  // namespace dovetail::inline DOVETAIL_ABI
