#include "dovetail/devices/cpu/simd_level.h"

#include "dovetail/devices/cpu/x86_processor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

bool HasSimdLevel(SimdLevel level) {
  switch (level) {
    case SimdLevel::kNone:
      return true;
#if defined(__x86_64__)
    case SimdLevel::kSse2:
      return true;
    case SimdLevel::kSsse3:
      return ThisX86Processor().ssse3;
    case SimdLevel::kAvx2:
      return ThisX86Processor().avx2;
    case SimdLevel::kAvx512:
      return ThisX86Processor().avx512;
    case SimdLevel::kAvx512Vbmi:
      return ThisX86Processor().avx512_vbmi;
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
