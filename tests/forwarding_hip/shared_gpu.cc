#include "tests/forwarding_hip/shared_gpu.h"

#include <string>

#include "tests/forwarding_hip/real_devices.h"

namespace forwarding_hip {

const RuntimeApi* SharedGpuApi() {
  static const RuntimeApi* const shared = []() -> const RuntimeApi* {
    std::string reason;
    if (!Cuda().load(Cuda().self, &reason)) return nullptr;
    auto* const api = new RuntimeApi(Cuda());
    FillDevices(*api);
    FillMemory(*api);
    FillStreams(*api);
    return api;
  }();
  return shared;
}

}  // namespace forwarding_hip
