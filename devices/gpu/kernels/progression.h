// Arithmetic progressions into dense memory.
//
//   LinearProgression<4>::Run<0>(arguments, block, thread, nullptr);

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_PROGRESSION_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_PROGRESSION_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/cast_element.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Rounded after the product and after the sum, as on the host.
DOVETAIL_HOST_DEVICE double ProductThenSum(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(__dmul_rn(a, b), c);
#else
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  const double product = a * b;
  return product + c;
#endif
}

template <int kBytes>
struct LinearProgression {
  using Arguments = ProgressionArguments;
  static constexpr int kPhases = 1;
  static constexpr int kSharedBytes = 0;
  static constexpr int kUnitsPerThread = kBytes >= 4 ? 4 : 8;
  static constexpr int kUnitsPerBlock = kBlockThreads * kUnitsPerThread;

  template <int kPhase>
  DOVETAIL_HOST_DEVICE static void Run(const ProgressionArguments& a, uint32_t block,
                                       uint32_t thread, unsigned char*) {
    const uint32_t first = block * kUnitsPerBlock + thread;
    DOVETAIL_UNROLL
    for (int i = 0; i < kUnitsPerThread; ++i) {
      const uint32_t index = first + i * kBlockThreads;
      if (index >= a.units) break;
      StoreUnit<typename UnitOf<kBytes>::Type>(a.dst + static_cast<uint64_t>(index) * kBytes,
                                               CastElement<8, kBytes>(a.formats, At(a, index)));
    }
  }

  // The number as the 8 bytes of an int64 or a float64.
  DOVETAIL_HOST_DEVICE static uint64_t At(const ProgressionArguments& a, uint32_t index) {
    const uint64_t i = a.first + index;
    const uint64_t integer = a.start + a.step * i;
    if (a.formats.from == NumberKind::kSigned) return integer;
    return BitCast<uint64_t>(
        a.is_integer ? static_cast<double>(static_cast<int64_t>(integer))
                     : ProductThenSum(static_cast<double>(i), a.real_step, a.real_start));
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_PROGRESSION_H_
