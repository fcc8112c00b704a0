// CUDA's runtime behind HIP's functions.

#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace vendor_driver {

const Backing& GetBacking() {
  // CUDA's numbers of results are HIP's (result_codes.h).
  static const Backing backing = {
      .api = forwarding_hip::SharedGpuApi(),
      .version = 60200000,
      .pool_of = forwarding_hip::PoolOf,
  };
  return backing;
}

}  // namespace vendor_driver
