// Which vector instructions the kernels of this package may use.
//
//   switch (BestSimdLevel()) { … }
//
// Kernels are compiled for several levels; which one runs is decided at run time by what the
// processor has. A higher level includes the lower ones. Any thread, no errors.

#ifndef DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
#define DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

enum class SimdLevel : uint8_t {
  kBaseline,  // what the compiler targets anyway: SSE2 on x86-64, NEON on AArch64
  kAvx2,      // with FMA, F16C and BMI2, as every processor with AVX2 has them
  kAvx512,    // F, BW, DQ, VL
};
inline constexpr SimdLevel kAllSimdLevels[] = {SimdLevel::kBaseline, SimdLevel::kAvx2,
                                               SimdLevel::kAvx512};

// The highest level that this processor and its operating system have.
SimdLevel BestSimdLevel();

}  // namespace dovetail::inline DOVETAIL_ABI

// Before a function that is compiled for a level; the code of what it inlines is, too.
#if defined(__x86_64__)
#define DOVETAIL_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi2")))
#define DOVETAIL_TARGET_AVX512 \
  __attribute__((              \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2,prefer-vector-width=512")))
#endif

#endif  // DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
