// Which vector instructions the kernels of the copies and of the casts may use.
//
//   switch (BestSimdLevel()) { … }
//
// Kernels are compiled for several levels; which one runs is decided at run time by what the
// machine has. Any thread, no errors.

#ifndef DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
#define DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// From the least to the most. kNone uses no vector instruction of its own: what the compiler makes
// of the code for its target, SSE2 on x86-64 and NEON on AArch64, is all there is.
enum class SimdLevel : uint8_t {
  kNone,
  kSse2,
  kSsse3,
  kAvx2,        // with FMA, F16C and BMI2, as every processor with AVX2 has them
  kAvx512,      // F, BW, DQ, VL
  kAvx512Vbmi,  // and permutes of bytes
  kNeon,
};
DOVETAIL_NOT_SHARED inline constexpr SimdLevel kAllSimdLevels[] = {
    SimdLevel::kNone,   SimdLevel::kSse2,       SimdLevel::kSsse3, SimdLevel::kAvx2,
    SimdLevel::kAvx512, SimdLevel::kAvx512Vbmi, SimdLevel::kNeon};

// Whether it is AVX-512, with more or without.
constexpr bool IsAvx512(SimdLevel level) {
  return level == SimdLevel::kAvx512 || level == SimdLevel::kAvx512Vbmi;
}

// Whether this processor and its operating system have it.
bool HasSimdLevel(SimdLevel level);

// The highest that they have. Looked up once a process.
SimdLevel BestSimdLevel();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
