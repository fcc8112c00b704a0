#include "dovetail/devices/cpu/simd_level.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

#if defined(__x86_64__)
// Clang's __builtin_cpu_supports does not know F16C. Looked up once, because CPUID takes about ten
// microseconds under a hypervisor.
bool HasF16c() {
  static const bool has = [] {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has;
}
#endif

}  // namespace

bool HasSimdLevel(SimdLevel level) {
#if defined(__x86_64__)
  __builtin_cpu_init();  // needed if the caller runs before the constructors of libgcc
#endif
  switch (level) {
    case SimdLevel::kNone:
      return true;
#if defined(__x86_64__)
    case SimdLevel::kSse2:
      return true;
    case SimdLevel::kSsse3:
      return __builtin_cpu_supports("ssse3");
    case SimdLevel::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c() &&
             __builtin_cpu_supports("bmi2");
    case SimdLevel::kAvx512:
      return HasSimdLevel(SimdLevel::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case SimdLevel::kAvx512Vbmi:
      return HasSimdLevel(SimdLevel::kAvx512) && __builtin_cpu_supports("avx512vbmi");
#elif defined(__aarch64__)
    case SimdLevel::kNeon:
      return true;
#endif
    default:
      return false;
  }
}

SimdLevel BestSimdLevel() {
  static const SimdLevel best = [] {
    SimdLevel found = SimdLevel::kNone;
    for (SimdLevel level : kAllSimdLevels) {
      if (HasSimdLevel(level)) found = level;
    }
    return found;
  }();
  return best;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
