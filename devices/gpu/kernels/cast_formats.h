// The element types of a cast, as launch constants: the kernels of cast.h decode and encode
// elements by them. planning/cast_formats.cc fills them in from dtype_list.inc.
//
// Only for types of whole bytes and one part: a complex element is two.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_CAST_FORMATS_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_CAST_FORMATS_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

enum class NumberKind : uint8_t {
  kBool,  // of a destination: 0 or 1
  kSigned,
  kUnsigned,
  kFloat,        // of a source: float16, float32 or float64, by its size; else float32 or float64
  kBFloat16,     // of a source
  kNarrowFloat,  // of a destination: a NarrowFormat
};

// A floating-point format of 8 or 16 bits. FloatFormat (core/internal/float_format.h) explains the
// terms. Masks, codes and numbers below are those of the format, but for `least_normal`.
struct NarrowFormat {
  uint32_t dropped_bits = 0;  // mantissa bits of a float32 that the format lacks
  uint32_t least_normal = 0;  // the float32 code of the smallest normal number
  uint32_t sign_mask = 0;     // 0 in a format without a sign
  uint32_t max_finite = 0;
  uint32_t too_large = 0;     // the code of numbers above the largest, without the sign
  uint32_t nan = 0;           // without the sign
  uint32_t payload_mask = 0;  // the bits of a NaN's payload that are kept
  uint32_t bits = 0;
  bool has_exponents_of_float32 = false;
  bool has_only_exponents = false;     // float8_e8m0fnu
  bool has_no_negative_zero = false;   // the fnuz formats, whose NaN has no sign
  bool rounds_doubles_to_odd = false;  // float64 is rounded once: float16
};

struct CastFormats {
  NumberKind from = NumberKind::kSigned;
  NumberKind to = NumberKind::kSigned;
  NarrowFormat narrow;  // of a destination of kNarrowFloat
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_CAST_FORMATS_H_
