// Casts between real and complex types, as far as they are more than casts of the parts.
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

// `part` with an imaginary part of 0: float16, float32 or float64.
CastStep RealToComplexStep(DType part, SimdLevel level);

// complex64 or complex128.
CastStep ComplexToBoolStep(DType complex, SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_COMPLEX_H_
