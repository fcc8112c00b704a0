// Casts among the types that C++ computes with: bool, int8 to int64, uint8 to uint64, float32,
// float64.
//
//   CastStep step = NativeStep(kFloat32, kInt8, BestSimdLevel());
//
// Integers keep their low bits. Anything but 0 is true, NaN too. Floating-point numbers lose their
// fraction on the way to an integer; what is out of the range of the integer is no error but
// becomes what x86's instructions make of it, which NumPy and PyTorch show, on every processor:
//   int32, int64      the least number (also for NaN)
//   8 and 16 bits     the low bits of what int32 would be
//   uint32, uint64    with N bits: as for the signed type below 2^(N-1), so that -1.0 is the
//                     largest number; from 2^(N-1) up the same of x - 2^(N-1), with 2^(N-1) added

#ifndef DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_
#define DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/step.h"
#include "dovetail/devices/cpu/cast/strided_step.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// nullptr where one of the types is none of those.
CastStep NativeStep(DType src, DType dst, SimdLevel level);
StridedStep NativeStridedStep(DType src, DType dst);

// float64 to float32 by rounding to odd: what is rounded again, to a format of at most 22 bits,
// then comes out as if it had been rounded once.
CastStep RoundToOddStep(SimdLevel level);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_NATIVE_H_
