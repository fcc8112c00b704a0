// ROCm's runtime, for devices/gpu/vendor/testing/load_test.cc.

#include "dovetail/devices/rocm/runtime.h"

namespace dovetail::gpu {

const RuntimeApi& RuntimeUnderTest();
const RuntimeApi& RuntimeUnderTest() { return RocmRuntimeApi(); }

}  // namespace dovetail::gpu
