// Copies and fills in the destination's order. Each thread moves a few units that are a block's
// width apart, so that adjacent threads write adjacent units.
//
//   LinearCopy<4>::Run<0>(arguments, block, thread, nullptr);     // what one thread does
//
// Every kernel is a class with Arguments, Run, kPhases (the number of phases; a barrier separates
// them), and kSharedBytes (the shared memory of a block).

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_LINEAR_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_LINEAR_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Loads in flight per thread. Narrow units need more of them to saturate the memory.
template <int kBytes>
inline constexpr int kUnitsPerThread = kBytes >= 4 ? 4 : 8;

template <int kBytes>
struct LinearCopy {
  using Arguments = CopyArguments;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;
  static constexpr int kUnitsPerBlock = kBlockThreads * kUnitsPerThread<kBytes>;

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const CopyArguments& a, uint32_t block, uint32_t thread,
                                       unsigned char*) {
    using Unit = typename UnitOf<kBytes>::Type;
    const uint32_t first = block * kUnitsPerBlock + thread;
    Unit unit[kUnitsPerThread<kBytes>];
    int64_t dst[kUnitsPerThread<kBytes>];
    DOVETAIL_UNROLL
    for (int i = 0; i < kUnitsPerThread<kBytes>; ++i) {
      const uint32_t index = first + i * kBlockThreads;
      if (index < a.units) {
        int64_t offset[2];
        a.space.Locate(index, offset);
        dst[i] = offset[0];
        unit[i] = LoadUnit<Unit>(a.src + offset[1]);
      }
    }
    DOVETAIL_UNROLL
    for (int i = 0; i < kUnitsPerThread<kBytes>; ++i) {
      if (first + i * kBlockThreads < a.units) StoreUnit<Unit>(a.dst + dst[i], unit[i]);
    }
  }
};

template <int kBytes>
struct LinearFill {
  using Arguments = FillArguments;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;
  static constexpr int kUnitsPerBlock = kBlockThreads * kUnitsPerThread<kBytes>;

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const FillArguments& a, uint32_t block, uint32_t thread,
                                       unsigned char*) {
    using Unit = typename UnitOf<kBytes>::Type;
    const uint32_t first = block * kUnitsPerBlock + thread;
    DOVETAIL_UNROLL
    for (int i = 0; i < kUnitsPerThread<kBytes>; ++i) {
      const uint32_t index = first + i * kBlockThreads;
      if (index < a.units) {
        int64_t offset[1];
        a.space.Locate(index, offset);
        StoreUnit<Unit>(a.dst + offset[0],
                        LoadUnit<Unit>(a.pattern + (index & a.period_mask) * kBytes));
      }
    }
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_LINEAR_H_
