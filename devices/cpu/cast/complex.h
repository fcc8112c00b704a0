// Casts between real and complex types that do more than cast the parts.
//
//   CastStep step = RealToComplexStep(kFloat32, level);    // float32 → complex64
//   CastStep step = ComplexToBoolStep(kComplex64, level);  // true where a part is not 0

#ifndef DOVETAIL_DEVICES_CPU_CAST_COMPLEX_H_
#define DOVETAIL_DEVICES_CPU_CAST_COMPLEX_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Adds an imaginary part of 0. `part` is float16, bfloat16, float32 or float64.
CastStep RealToComplexStep(DType part, SimdLevel level);

// For complex64 and complex128.
CastStep ComplexToBoolStep(DType complex, SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_COMPLEX_H_
