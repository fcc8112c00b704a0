// FloatFormat: converts every floating-point format of dtype_list.inc to and from double.
//
//   FloatFormat f = *FloatFormatOf(kFloat8E4M3Fn);
//   DecodeFloat(f, 0x7e)                 // 448.0, the largest
//   EncodeFloat(f, 0.3)                  // 0x2a: 0.3125, the nearest
//
// Decoding is exact. Encoding rounds once, to nearest with ties to even. A number that is too large
// becomes an infinity if the format has one, else a NaN, else the largest finite number. These are
// the rules of ml_dtypes (jax-ml/ml_dtypes, include/float8.h and mxfloat.h), also for
// float8_e8m0fnu. That format has neither sign nor zero: 0 and negative numbers become NaN,
// positive numbers below 2^-127 become 2^-127, and numbers between 2^-127 and 2^-126 become 2^-126
// (in PyTorch as well). Constexpr, no errors, any thread.

#ifndef DOVETAIL_CORE_INTERNAL_FLOAT_FORMAT_H_
#define DOVETAIL_CORE_INTERNAL_FLOAT_FORMAT_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The meaning of the codes at the end of the range. dtype_list.inc explains each.
enum class FloatSpecials : uint8_t { kIeee, kNanOnly, kNanIsNegativeZero, kNone };

struct FloatFormat {
  uint8_t bits;
  uint8_t sign_bits;
  uint8_t exponent_bits;
  uint8_t mantissa_bits;
  int16_t bias;
  FloatSpecials specials;

  // Whether codes with an exponent field of 0 are 0 and the subnormal numbers. A format without a
  // mantissa has none: every code of float8_e8m0fnu but the NaN is a power of two.
  constexpr bool has_subnormals() const { return mantissa_bits != 0; }
  constexpr bool has_nan() const { return specials != FloatSpecials::kNone; }

  // All bits of a code but the sign.
  constexpr uint64_t magnitude_mask() const {
    return (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
  }
  constexpr uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  constexpr uint64_t sign_mask() const { return magnitude_mask() + 1; }
  // The largest code that is a finite number.
  constexpr uint64_t max_finite() const {
    switch (specials) {
      case FloatSpecials::kIeee:
        return infinity() - 1;
      case FloatSpecials::kNanOnly:
        return magnitude_mask() - 1;
      case FloatSpecials::kNanIsNegativeZero:
      case FloatSpecials::kNone:
        break;
    }
    return magnitude_mask();
  }
  // kIeee only.
  constexpr uint64_t infinity() const { return magnitude_mask() & ~mantissa_mask(); }
  // The code of a NaN with this sign, if the format has both signs of it. The code of negative zero
  // if the format has no NaN.
  constexpr uint64_t nan(bool negative) const {
    const uint64_t sign = negative && sign_bits != 0 ? sign_mask() : 0;
    switch (specials) {
      case FloatSpecials::kIeee:
        return sign | infinity() | (mantissa_mask() + 1) >> 1;
      case FloatSpecials::kNanOnly:
        return sign | magnitude_mask();
      case FloatSpecials::kNanIsNegativeZero:
      case FloatSpecials::kNone:
        break;
    }
    return sign_mask();
  }

  friend constexpr bool operator==(const FloatFormat&, const FloatFormat&) = default;
};

// The format of a floating-point type (of one lane); nullopt for any other type.
constexpr std::optional<FloatFormat> FloatFormatOf(DType dtype) {
  switch (static_cast<int>(dtype.kind) << 8 | dtype.bits) {
#define DOVETAIL_FLOAT_FORMAT(kind, bits, sign, exponent, mantissa, bias, specials) \
  case static_cast<int>(TypeKind::kind) << 8 | bits:                                \
    static_assert(sign + exponent + mantissa == bits);                              \
    return FloatFormat{bits, sign, exponent, mantissa, bias, FloatSpecials::specials};
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_FLOAT_FORMAT
  }
  return std::nullopt;
}

namespace internal_float {

inline constexpr int kDoubleMantissaBits = 52;
inline constexpr int kDoubleBias = 1023;

// 2^exponent, for exponents of normal doubles.
constexpr double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kDoubleBias)
                               << kDoubleMantissaBits);
}

// value / 2^shift, to the nearest integer, ties to even.
constexpr uint64_t ShiftAndRound(uint64_t value, int shift) {
  if (shift == 0) return value;
  if (shift > 63) return 0;
  const uint64_t rest = value & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const uint64_t floor = value >> shift;
  return floor + (rest > half || (rest == half && (floor & 1) != 0));
}

// The code of a positive finite number. It may exceed max_finite().
constexpr uint64_t EncodeMagnitude(const FloatFormat& f, double value) {
  const auto code = std::bit_cast<uint64_t>(value);
  uint64_t significand = code & ((uint64_t{1} << kDoubleMantissaBits) - 1);
  int exponent = static_cast<int>(code >> kDoubleMantissaBits);
  if (exponent != 0) {
    significand |= uint64_t{1} << kDoubleMantissaBits;
  } else {
    exponent = 1;
    const int shift = std::countl_zero(significand) - (63 - kDoubleMantissaBits);
    significand <<= shift;
    exponent -= shift;
  }
  exponent -= kDoubleBias;  // value = significand / 2^52 * 2^exponent, significand >= 2^52

  const int first_field = f.has_subnormals() ? 1 : 0;
  const int field = exponent + f.bias;
  if (field < first_field) {
    if (!f.has_subnormals()) return 0;
    // Rounding up to the smallest normal number carries into the exponent field.
    return ShiftAndRound(significand, kDoubleMantissaBits - f.mantissa_bits + first_field - field);
  }
  const int dropped = kDoubleMantissaBits - f.mantissa_bits;
  if (field == 0) return significand > uint64_t{1} << dropped;  // smallest of float8_e8m0fnu
  const uint64_t rounded = ShiftAndRound(significand, dropped);
  // Rounding up to the next power of two carries into the exponent field, too.
  return (static_cast<uint64_t>(field) << f.mantissa_bits) + (rounded - f.mantissa_mask() - 1);
}

}  // namespace internal_float

constexpr double DecodeFloat(const FloatFormat& f, uint64_t code) {
  if (f.mantissa_bits == internal_float::kDoubleMantissaBits) return std::bit_cast<double>(code);
  const uint64_t magnitude = code & f.magnitude_mask();
  const bool negative = f.sign_bits != 0 && (code & f.sign_mask()) != 0;
  const double sign = negative ? -1.0 : 1.0;
  const bool negative_zero = negative && magnitude == 0;
  if (magnitude > f.max_finite() ||
      (negative_zero && f.specials == FloatSpecials::kNanIsNegativeZero)) {
    if (f.specials == FloatSpecials::kIeee && magnitude == f.infinity()) {
      return sign * std::numeric_limits<double>::infinity();
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return negative ? -nan : nan;
  }
  int field = static_cast<int>(magnitude >> f.mantissa_bits);
  uint64_t significand = magnitude & f.mantissa_mask();
  if (field != 0 || !f.has_subnormals()) {
    significand += f.mantissa_mask() + 1;
  } else {
    field = 1;
  }
  return sign * static_cast<double>(significand) *
         internal_float::PowerOfTwo(field - f.bias - f.mantissa_bits);
}

constexpr uint64_t EncodeFloat(const FloatFormat& f, double value) {
  const auto code = std::bit_cast<uint64_t>(value);
  if (f.mantissa_bits == internal_float::kDoubleMantissaBits) return code;
  const bool negative = code >> 63 != 0;
  if (value != value) return f.nan(negative);
  if (f.sign_bits == 0 && value <= 0) return f.nan(false);
  const uint64_t sign = negative ? f.sign_mask() : 0;
  if (value == 0) return f.specials == FloatSpecials::kNanIsNegativeZero ? 0 : sign;

  const double size = negative ? -value : value;
  uint64_t magnitude = f.max_finite() + 1;
  if (size <= std::numeric_limits<double>::max()) {
    magnitude = internal_float::EncodeMagnitude(f, size);
  }
  if (magnitude <= f.max_finite()) {
    if (magnitude == 0 && f.specials == FloatSpecials::kNanIsNegativeZero) return 0;
    return sign | magnitude;
  }
  switch (f.specials) {
    case FloatSpecials::kIeee:
      return sign | f.infinity();
    case FloatSpecials::kNone:
      return sign | f.max_finite();
    case FloatSpecials::kNanOnly:
    case FloatSpecials::kNanIsNegativeZero:
      break;
  }
  return f.nan(negative);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_FLOAT_FORMAT_H_
