// Casts between float32 and floating-point formats of at most 16 bits, and between int8 or uint8
// and sub-byte integers.
//
//   WidenStep(kBFloat16, level)       // bfloat16 → float32, exact
//   NarrowStep(kFloat8E4M3Fn, level)  // float32 → float8_e4m3fn
//   WidenStep(kInt4, level)           // int4, a byte each → int8
//
// Sub-byte elements have a byte each here (Packing::kPadded). Rounding is to nearest, ties to even.
// Overflow and NaN follow core/internal/float_format.h, which agrees with ml_dtypes. A NaN keeps
// its sign if the format has one. Its payload is kept from float32 to float16, and from float16,
// bfloat16, float8_e5m2 and float8_e4m3fn to float32; it becomes quiet, except from bfloat16.

#ifndef DOVETAIL_DEVICES_CPU_CAST_NARROW_H_
#define DOVETAIL_DEVICES_CPU_CAST_NARROW_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The type of native.h to which a narrow type is widened: float32, int8 or uint8. Any other type is
// returned unchanged.
DType WideTypeOf(DType dtype);

// Steps from a narrow type to its wide type, and back. nullptr for any other type.
CastStep WidenStep(DType narrow, SimdLevel level);
CastStep NarrowStep(DType narrow, SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_NARROW_H_
