// The stand-in of a vendor's library that logs its calls and does nothing else. STANDS_IN_FOR is
// the version that it says it is; the environment variable FAKE_VERSION sets another one.

#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "dovetail/devices/gpu/vendor/testing/driver/fixed_runtime.h"
#include "dovetail/devices/gpu/vendor/testing/fake_log.h"

DOVETAIL_FAKE_EXPORTS

namespace vendor_driver {

const Backing& GetBacking() {
  static const Backing backing = {
      .api = &FixedRuntime(),
      .version = dovetail_fake::Setting("FAKE_VERSION", STANDS_IN_FOR),
      .logs = true,
      .pool_of = FixedPoolOf,
  };
  return backing;
}

}  // namespace vendor_driver
