// The vector instructions that kernels of copies and casts may use.
//
//   switch (BestSimdLevel()) { … }
//
// Kernels are compiled for several levels. The highest that the machine supports runs. Any thread;
// nothing fails.

#ifndef DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
#define DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// In ascending order. kNone has no code for a level: it uses only the instructions of the
// compiler's target, with SSE2 on x86-64 and NEON on AArch64.
enum class SimdLevel : uint8_t {
  kNone,
  kSse2,
  kSsse3,
  kAvx2,        // with FMA, F16C and BMI2, which every processor with AVX2 has
  kAvx512,      // F, BW, DQ, VL
  kAvx512Vbmi,  // also VBMI: permutes of bytes
  kNeon,
};
DOVETAIL_NOT_SHARED inline constexpr SimdLevel kAllSimdLevels[] = {
    SimdLevel::kNone,   SimdLevel::kSse2,       SimdLevel::kSsse3, SimdLevel::kAvx2,
    SimdLevel::kAvx512, SimdLevel::kAvx512Vbmi, SimdLevel::kNeon};

// Whether it is AVX-512, with VBMI or without.
constexpr bool IsAvx512(SimdLevel level) {
  return level == SimdLevel::kAvx512 || level == SimdLevel::kAvx512Vbmi;
}

// Whether this processor and its operating system support the level.
bool HasSimdLevel(SimdLevel level);

// The highest supported level. Looked up once per process.
SimdLevel BestSimdLevel();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_SIMD_LEVEL_H_
