// The casts of cast_narrow.h that x86 has instructions for, or for which it pays to write them.
//
//   if (CastStep step = X86NarrowStep(kFloat16, BestSimdLevel())) step(src, dst, n);
//
// The results are those of cast_narrow.h, bit by bit.

#ifndef DOVETAIL_DEVICES_CPU_CAST_X86_H_
#define DOVETAIL_DEVICES_CPU_CAST_X86_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast_step.h"

namespace dovetail::inline DOVETAIL_ABI {

// From `narrow` to float32, and back. nullptr where there is no own step for the type at the level.
CastStep X86WidenStep(DType narrow, SimdLevel level);
CastStep X86NarrowStep(DType narrow, SimdLevel level);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_CAST_X86_H_
