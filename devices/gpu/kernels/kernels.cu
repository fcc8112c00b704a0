// The device code: one kernel for each line of kernel_list.inc. Compiled by nvcc and, as HIP, by
// hipcc.

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define DOVETAIL_GRID_CONSTANT
#else
// Indexes an argument in place, without a copy on the stack.
#define DOVETAIL_GRID_CONSTANT __grid_constant__
#endif

#include "dovetail/devices/gpu/kernels/cast.h"
#include "dovetail/devices/gpu/kernels/cast_tile.h"
#include "dovetail/devices/gpu/kernels/gather.h"
#include "dovetail/devices/gpu/kernels/linear.h"
#include "dovetail/devices/gpu/kernels/progression.h"
#include "dovetail/devices/gpu/kernels/shifted_tile.h"
#include "dovetail/devices/gpu/kernels/tile.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// (In no unnamed namespace: nvcc names what is in one after the path of the build, so that no two
// builds are the same.)
template <typename Kernel>
__device__ __forceinline__ void RunPhases(const typename Kernel::Arguments& arguments) {
  if constexpr (Kernel::kPhases == 1) {
    Kernel::template Run<0>(arguments, blockIdx.x, threadIdx.x, nullptr);
  } else {
    static_assert(Kernel::kPhases == 2);
    alignas(16) __shared__ unsigned char shared[Kernel::kSharedBytes];
    Kernel::template Run<0>(arguments, blockIdx.x, threadIdx.x, shared);
    __syncthreads();
    Kernel::template Run<1>(arguments, blockIdx.x, threadIdx.x, shared);
  }
}

#define DOVETAIL_GPU_KERNEL(name, ...)                                               \
  extern "C" __global__ void __launch_bounds__(kBlockThreads)                        \
      name(const DOVETAIL_GRID_CONSTANT typename __VA_ARGS__::Arguments arguments) { \
    RunPhases<__VA_ARGS__>(arguments);                                               \
  }
#include "dovetail/devices/gpu/kernels/kernel_list.inc"
#undef DOVETAIL_GPU_KERNEL

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
