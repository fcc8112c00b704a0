// Casts between float32 and the narrow formats of dtype_list.inc: the Ops of step.h. They have no
// branches, so that the compiler vectorises them.
//
//   EncodeOp<*FloatFormatOf(kFloat8E5M2)>::Do(0.3f)      // 0x35: 0.3125
//   DecodeOp<*FloatFormatOf(kFloat8E5M2)>::Do(0x35)      // 0.3125f
//
// The results are those of EncodeFloat and DecodeFloat in core/internal/float_format.h, except for
// the payload of NaNs (narrow.h), also in threads that flush subnormal numbers to zero. Nothing
// fails; any thread.

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

// The integer type of a code.
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

  // Also used by the hand-written vector versions (avx2.cc, avx512.cc).
  static constexpr uint32_t kInfinity = 0x7f800000u;
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(127 - f.bias + 1) << 23;
  static constexpr float kShift = 1 << (23 - f.mantissa_bits);
  // The float32 exponent field of the sum in Magnitude() for the smallest number.
  static constexpr int kLeastOfSum = (kLeastNormal >> 23) + 23 - f.mantissa_bits;

 private:
  static constexpr uint32_t kSign = 0x80000000u;
  static constexpr int kDropped = 23 - f.mantissa_bits;
  static constexpr uint32_t kNan = f.nan(false);
  // The code of numbers above the largest.
  static constexpr uint32_t kTooLarge = f.specials == FloatSpecials::kIeee   ? f.infinity()
                                        : f.specials == FloatSpecials::kNone ? f.max_finite()
                                                                             : kNan;

  // The rounded code without the sign. It may be above the largest code.
  static uint32_t Magnitude(uint32_t size) {
    if constexpr (f.bias == kFloat32Format.bias) {  // the same exponents as float32
      const uint32_t last_bit = size >> kDropped & 1;
      return (size + (uint32_t{1} << (kDropped - 1)) - 1 + last_bit) >> kDropped;
    } else {
      // Adding a power of two that is large enough rounds the number to its last bit, or to the
      // last bit of a subnormal number. The low bits of the sum are then the significand.
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

// A format that is only an exponent: positive powers of two.
template <FloatFormat f>
  requires(f.sign_bits == 0)
struct EncodeOp<f> {
  using In = float;
  using Out = uint8_t;
  static_assert(f.mantissa_bits == 0 && f.bias == kFloat32Format.bias && f.bits == 8);

  static uint8_t Do(float x) {
    const auto code = std::bit_cast<uint32_t>(x);
    // Subnormal float32 numbers above 2^-127 become 2^-126.
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
      if (f == kFloat8E4M3FnFormat && (code & f.magnitude_mask()) > f.max_finite()) {
        numbers[code] = std::bit_cast<float>(code == f.nan(true) ? 0xfff00000u : 0x7ff00000u);
      }
    }
    return numbers;
  }();
};

// The scale from the float16 with the same bits to a float8_e4m3fn: its exponents start 8 higher.
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
    const int32_t magnitude = code & 0x7fff;
    const uint32_t size = static_cast<uint32_t>(magnitude) << 13;
    // A subnormal number counts steps of 2^-24. A float32 with these bits would be subnormal, too,
    // and 0 in a thread that flushes such numbers.
    const auto subnormal = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
    constexpr uint32_t kMoreBias = (127 - 15) << 23;
    const uint32_t number = magnitude < 0x0400 ? subnormal : size + kMoreBias;
    const uint32_t quiet = magnitude > 0x7c00 ? 0x7fc00000 : 0x7f800000;
    return std::bit_cast<float>(sign | (magnitude >= 0x7c00 ? size | quiet : number));
  }
};

// The upper byte of a float16, also for NaNs.
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
