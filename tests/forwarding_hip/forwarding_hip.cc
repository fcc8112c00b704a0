// CUDA's runtime behind HIP's functions.

#include <string>

#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace forwarding_hip {
namespace {

// nullptr if CUDA's library can't be loaded.
const RuntimeApi* MakeApi() {
  std::string reason;
  if (!Cuda().load(Cuda().self, &reason)) return nullptr;
  auto* const api = new RuntimeApi(Cuda());
  FillDevices(*api);
  FillMemory(*api);
  FillStreams(*api);
  return api;
}

}  // namespace
}  // namespace forwarding_hip

const vendor_driver::Backing& vendor_driver::GetBacking() {
  // CUDA's numbers of results are HIP's (result_codes.h).
  static const Backing backing = {
      .api = forwarding_hip::MakeApi(),
      .version = 60200000,
      .pool_of = forwarding_hip::PoolOf,
  };
  return backing;
}
