// CUDA's runtime, for devices/gpu/vendor/testing/load_test.cc.

#include "dovetail/devices/cuda/runtime.h"

namespace dovetail::gpu {

const RuntimeApi& RuntimeUnderTest();
const RuntimeApi& RuntimeUnderTest() { return CudaRuntimeApi(); }

}  // namespace dovetail::gpu
