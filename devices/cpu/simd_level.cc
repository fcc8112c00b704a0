#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

SimdLevel Detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  if (!avx2) return SimdLevel::kBaseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? SimdLevel::kAvx512 : SimdLevel::kAvx2;
#else
  return SimdLevel::kBaseline;
#endif
}

}  // namespace

SimdLevel BestSimdLevel() {
  static const SimdLevel level = Detect();
  return level;
}

}  // namespace dovetail::inline DOVETAIL_ABI
