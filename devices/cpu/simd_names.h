// The names of SimdLevel's values, for reports.
//
//   SimdName(BestSimdLevel())       // "avx512_vbmi"
//   CompiledSimdNames()             // "sse2", "ssse3", "avx2", "avx512", "avx512_vbmi"
//
// Any thread; nothing fails.

#ifndef DOVETAIL_DEVICES_CPU_SIMD_NAMES_H_
#define DOVETAIL_DEVICES_CPU_SIMD_NAMES_H_

#include <string_view>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// In lower case. "none" for kNone.
std::string_view SimdName(SimdLevel level);

// The levels that this build has kernels for, in ascending order. The processor need not have them.
std::vector<std::string_view> CompiledSimdNames();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_SIMD_NAMES_H_
