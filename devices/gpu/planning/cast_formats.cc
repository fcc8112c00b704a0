#include "dovetail/devices/gpu/planning/cast_formats.h"

#include <cstdint>
#include <optional>

#include "dovetail/core/internal/float_format.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

constexpr FloatFormat kFloat32Format = *FloatFormatOf(kFloat32);

NarrowFormat NarrowFormatOf(const FloatFormat& f) {
  const bool has_infinity = f.specials == FloatSpecials::kIeee;
  const bool is_float16 = f == *FloatFormatOf(kFloat16);
  NarrowFormat narrow;
  narrow.bits = f.bits;
  narrow.dropped_bits = static_cast<uint32_t>(kFloat32Format.mantissa_bits - f.mantissa_bits);
  narrow.least_normal = static_cast<uint32_t>(kFloat32Format.bias - f.bias + 1)
                        << kFloat32Format.mantissa_bits;
  narrow.sign_mask = f.sign_bits != 0 ? static_cast<uint32_t>(f.sign_mask()) : 0;
  narrow.max_finite = static_cast<uint32_t>(f.max_finite());
  narrow.nan = static_cast<uint32_t>(f.nan(false));
  narrow.too_large = has_infinity ? static_cast<uint32_t>(f.infinity()) : narrow.nan;
  narrow.payload_mask = is_float16 ? static_cast<uint32_t>(f.mantissa_mask()) : 0;
  narrow.has_exponents_of_float32 = f.bias == kFloat32Format.bias;
  narrow.has_only_exponents = f.sign_bits == 0;
  narrow.has_no_negative_zero = f.specials == FloatSpecials::kNanIsNegativeZero;
  narrow.rounds_doubles_to_odd = is_float16;
  return narrow;
}

NumberKind IntegerKind(DType type) {
  return type.kind == TypeKind::kInt ? NumberKind::kSigned : NumberKind::kUnsigned;
}

bool IsInteger(DType type) { return type.kind == TypeKind::kInt || type.kind == TypeKind::kUInt; }

}  // namespace

bool IsCastable(DType type) {
  if (type.lanes != 1 || type.bits % 8 != 0) return false;
  return type.kind == TypeKind::kBool || IsInteger(type) || FloatFormatOf(type).has_value();
}

CastFormats CastFormatsOf(DType from, DType to) {
  CastFormats formats;
  if (IsInteger(from)) {
    formats.from = IntegerKind(from);
  } else {
    formats.from = from == kBFloat16 ? NumberKind::kBFloat16 : NumberKind::kFloat;
  }
  if (to.kind == TypeKind::kBool) {
    formats.to = NumberKind::kBool;
  } else if (IsInteger(to)) {
    formats.to = IntegerKind(to);
  } else if (to.bits >= 32) {
    formats.to = NumberKind::kFloat;
  } else {
    formats.to = NumberKind::kNarrowFloat;
    formats.narrow = NarrowFormatOf(*FloatFormatOf(to));
  }
  return formats;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
