// Casts of narrow.h written with x86 intrinsics.
//
//   if (CastStep step = X86NarrowStep(kFloat16, BestSimdLevel())) step(src, dst, n);
//
// The results are bit-identical to those of narrow.h.

#ifndef DOVETAIL_DEVICES_CPU_CAST_X86_H_
#define DOVETAIL_DEVICES_CPU_CAST_X86_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

#if defined(__x86_64__)
// From `narrow` to float32, and back. nullptr if there is no such step for the type at this level.
CastStep X86WidenStep(DType narrow, SimdLevel level);
CastStep X86NarrowStep(DType narrow, SimdLevel level);

// The steps of each level.
namespace internal_cast {
CastStep Avx2WidenStep(DType narrow);
CastStep Avx2NarrowStep(DType narrow);
CastStep Avx512WidenStep(DType narrow);
CastStep Avx512NarrowStep(DType narrow);
}  // namespace internal_cast

inline CastStep X86WidenStep(DType narrow, SimdLevel level) {
  if (IsAvx512(level)) return internal_cast::Avx512WidenStep(narrow);
  return level == SimdLevel::kAvx2 ? internal_cast::Avx2WidenStep(narrow) : nullptr;
}
inline CastStep X86NarrowStep(DType narrow, SimdLevel level) {
  if (IsAvx512(level)) return internal_cast::Avx512NarrowStep(narrow);
  return level == SimdLevel::kAvx2 ? internal_cast::Avx2NarrowStep(narrow) : nullptr;
}
#else
inline CastStep X86WidenStep(DType, SimdLevel) { return nullptr; }
inline CastStep X86NarrowStep(DType, SimdLevel) { return nullptr; }
#endif

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_X86_H_
