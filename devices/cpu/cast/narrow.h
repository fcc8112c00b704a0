// Casts between float32 and the floating-point formats of 16 bits and less, and between int8 or
// uint8 and the integers of less than 8.
//
//   WidenStep(kBFloat16, level)       // bfloat16 → float32, exact
//   NarrowStep(kFloat8E4M3Fn, level)  // float32 → float8_e4m3fn
//   WidenStep(kInt4, level)           // int4, a byte each → int8
//
// Elements of less than 8 bits have a byte each here (Packing::kPadded). Rounding is to nearest,
// ties to even, and what is too large or no number becomes what core/internal/float_format.h says,
// which is what ml_dtypes does. A NaN keeps its sign where the format has one; what more it says is
// kept from float32 to float16 and from float16, bfloat16 and float8_e5m2 (quiet, but for
// bfloat16).

#ifndef DOVETAIL_DEVICES_CPU_CAST_NARROW_H_
#define DOVETAIL_DEVICES_CPU_CAST_NARROW_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The type of native.h that a narrow type is widened to: float32, int8 or uint8. The type
// itself for any other.
DType WideTypeOf(DType dtype);

// From a narrow type to its wide one, and back. nullptr for any other type.
CastStep WidenStep(DType narrow, SimdLevel level);
CastStep NarrowStep(DType narrow, SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_NARROW_H_
