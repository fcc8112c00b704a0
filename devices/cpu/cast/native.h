// Casts among the arithmetic types of C++: bool, int8 to int64, uint8 to uint64, float32, float64.
//
//   CastStep step = NativeStep(kFloat32, kInt8, BestSimdLevel());
//
// core/copy.h has the rules, also for numbers out of range. On every processor the results are what
// the instructions of x86 give.

#ifndef DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_
#define DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"
#include "dovetail/devices/cpu/cast/strided_step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// nullptr if one of the types is not in this list.
CastStep NativeStep(DType src, DType dst, SimdLevel level);
StridedStep NativeStridedStep(DType src, DType dst);

// float64 to float32, rounded to odd. A second rounding, to a format of at most 22 bits, then gives
// the same result as a single one.
CastStep RoundToOddStep(SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_
