#include "dovetail/devices/cpu/simd_names.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

bool IsCompiled(SimdLevel level) {
#if defined(__x86_64__)
  return level != SimdLevel::kNone && level != SimdLevel::kNeon;
#elif defined(__aarch64__)
  return level == SimdLevel::kNeon;
#else
  return false;
#endif
}

}  // namespace

std::string_view SimdName(SimdLevel level) {
  switch (level) {
    case SimdLevel::kNone:
      break;
    case SimdLevel::kSse2:
      return "sse2";
    case SimdLevel::kSsse3:
      return "ssse3";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
    case SimdLevel::kAvx512Vbmi:
      return "avx512_vbmi";
    case SimdLevel::kNeon:
      return "neon";
  }
  return "none";
}

std::vector<std::string_view> CompiledSimdNames() {
  std::vector<std::string_view> names;
  for (SimdLevel level : kAllSimdLevels) {
    if (IsCompiled(level)) names.push_back(SimdName(level));
  }
  return names;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
