// float32 to and from the narrow formats of dtype_list.inc, one element at a time: the Ops of
// step.h, without branches, so that the compiler makes vectors of them.
//
//   EncodeOp<*FloatFormatOf(kFloat8E5M2)>::Do(0.3f)      // 0x35: 0.3125
//   DecodeOp<*FloatFormatOf(kFloat8E5M2)>::Do(0x35)      // 0.3125f
//
// The results are those of EncodeFloat and DecodeFloat in core/internal/float_format.h, but for
// what a NaN says besides being one (narrow.h). No errors, any thread.

#ifndef DOVETAIL_DEVICES_CPU_CAST_FORMAT_H_
#define DOVETAIL_DEVICES_CPU_CAST_FORMAT_H_

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/float_format.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline constexpr FloatFormat kFloat32Format = *FloatFormatOf(kFloat32);
inline constexpr FloatFormat kFloat16Format = *FloatFormatOf(kFloat16);
inline constexpr FloatFormat kBFloat16Format = *FloatFormatOf(kBFloat16);
inline constexpr FloatFormat kFloat8E4M3FnFormat = *FloatFormatOf(kFloat8E4M3Fn);
inline constexpr FloatFormat kFloat8E5M2Format = *FloatFormatOf(kFloat8E5M2);

// Holds one code of a format.
template <FloatFormat f>
using CodeOf = std::conditional_t<(f.bits > 8), uint16_t, uint8_t>;

template <FloatFormat f>
struct EncodeOp {
  using In = float;
  using Out = CodeOf<f>;

  static Out Do(float x) {
    const auto code = std::bit_cast<uint32_t>(x);
    const uint32_t size = code & ~kSign;
    return Finish(code, size, Magnitude(size));
  }

  // For those that do the same with vectors of their own.
  static constexpr uint32_t kInfinity = 0x7f800000u;
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 - f.bias + 1) << 23;
  static constexpr float kShift = 1 << (23 - f.mantissa_bits);
  // The exponent of the sum of the least number, as float32 has it.
  static constexpr int kLeastOfSum = (kLeastNormal >> 23) + 23 - f.mantissa_bits;

 private:
  static constexpr uint32_t kSign = 0x80000000u;
  static constexpr int kDropped = 23 - f.mantissa_bits;
  static constexpr uint32_t kNan = f.nan(false);
  // What is above the largest number.
  static constexpr uint32_t kTooLarge = f.specials == FloatSpecials::kIeee   ? f.infinity()
                                        : f.specials == FloatSpecials::kNone ? f.max_finite()
                                                                             : kNan;

  // The code without the sign, rounded; may come out above the largest.
  static uint32_t Magnitude(uint32_t size) {
    if constexpr (f.bias == kFloat32Format.bias) {  // the exponents are those of float32
      const uint32_t last_bit = size >> kDropped & 1;
      return (size + (uint32_t{1} << (kDropped - 1)) - 1 + last_bit) >> kDropped;
    } else {
      // A power of two so much larger that adding the number to it rounds the number to its last
      // bit, or to that of the subnormal numbers. The significand is then the last bits of the sum.
      const uint32_t exponent = (size > kLeastNormal ? size : kLeastNormal) & kInfinity;
      const float sum = std::bit_cast<float>(exponent) * kShift + std::bit_cast<float>(size);
      const uint32_t significand = std::bit_cast<uint32_t>(sum) & (4 * f.mantissa_mask() + 3);
      return significand + ((exponent - kLeastNormal) >> kDropped);
    }
  }
  static Out Finish(uint32_t code, uint32_t size, uint32_t magnitude) {
    const uint32_t sign = code >> (32 - f.bits) & static_cast<uint32_t>(f.sign_mask());
    if constexpr (f.specials == FloatSpecials::kNanIsNegativeZero) {
      const uint32_t number = magnitude == 0 ? 0 : sign | magnitude;
      return static_cast<Out>(magnitude > f.max_finite() ? kNan : number);
    } else {
      magnitude = magnitude > f.max_finite() ? kTooLarge : magnitude;
      if constexpr (kTooLarge != kNan) magnitude = size > kInfinity ? NanCode(size) : magnitude;
      return static_cast<Out>(sign | magnitude);
    }
  }
  static uint32_t NanCode(uint32_t size) {
    if constexpr (f == kFloat16Format) return kNan | (size >> kDropped & f.mantissa_mask());
    return kNan;
  }
};

// A format without sign and mantissa: the exponent alone, of positive numbers.
template <FloatFormat f>
requires(f.sign_bits == 0) struct EncodeOp<f> {
  using In = float;
  using Out = uint8_t;
  static_assert(f.mantissa_bits == 0 && f.bias == kFloat32Format.bias && f.bits == 8);

  static uint8_t Do(float x) {
    const auto code = std::bit_cast<uint32_t>(x);
    // Of the numbers below the least normal one, 2^-126, all above 2^-127 become that.
    const uint32_t rounded = (code + 0x400000 - (code == 0x400000)) >> 23;
    const bool is_positive = code - 1 < 0x7fffffffu;
    return static_cast<uint8_t>(is_positive && rounded < 0xff ? rounded : 0xff);
  }
};

template <FloatFormat f>
struct DecodeOp {
  using In = uint8_t;
  using Out = float;
  static_assert(f.bits <= 8);

  static float Do(uint8_t code) { return kNumbers[code & (kNumbers.size() - 1)]; }

 private:
  DOVETAIL_NOT_SHARED static constexpr auto kNumbers = [] {
    std::array<float, size_t{1} << f.bits> numbers{};
    for (size_t code = 0; code < numbers.size(); ++code) {
      numbers[code] = static_cast<float>(DecodeFloat(f, code));
    }
    return numbers;
  }();
};

// What float8_e4m3fn takes to come from the float16 with the same bits, the exponents of which
// start 8 lower.
inline constexpr float kE4M3Scale = 256;

template <>
struct DecodeOp<kBFloat16Format> {
  using In = uint16_t;
  using Out = float;
  static float Do(uint16_t code) { return std::bit_cast<float>(uint32_t{code} << 16); }
};

template <>
struct DecodeOp<kFloat16Format> {
  using In = uint16_t;
  using Out = float;
  static float Do(uint16_t code) {
    const uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16;
    const uint32_t size = static_cast<uint32_t>(code & 0x7fff) << 13;
    // As if the exponents started where those of float32 do; then where they start.
    constexpr float kScale = 0x1p112f;
    const uint32_t number = std::bit_cast<uint32_t>(std::bit_cast<float>(size) * kScale);
    const uint32_t quiet = size > 0x0f800000 ? 0x7fc00000 : 0x7f800000;
    return std::bit_cast<float>(sign | (size >= 0x0f800000 ? size | quiet : number));
  }
};

// The upper half of a float16, NaNs included.
template <>
struct DecodeOp<kFloat8E5M2Format> {
  using In = uint8_t;
  using Out = float;
  static float Do(uint8_t code) {
    return DecodeOp<kFloat16Format>::Do(static_cast<uint16_t>(code << 8));
  }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_FORMAT_H_
