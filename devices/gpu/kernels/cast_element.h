// Casts of single elements between any two formats, on the device and on the host. core/copy.h has
// the rules. The results are those of the CPU's casts (devices/cpu/cast), to the bit, also of NaNs.
//
//   CastElement<2, 4>(formats, uint16_t{0x3c00})      // of a float16 and to a float32: 0x3f800000
//   CastNumber<float16, float32>(uint16_t{0x3c00})    // the same, with the types known
//
// NaNs are converted as integers: what a device's instructions make of them is not specified.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_CAST_ELEMENT_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_CAST_ELEMENT_H_

#include <cstdint>
#include <type_traits>

#include "dovetail/core/config.h"
#include "dovetail/core/freestanding/narrow_floats.h"
#include "dovetail/devices/gpu/kernels/cast_formats.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

using internal_narrow::BitCast;

inline constexpr uint32_t kFloatInfinity = 0x7f800000;

DOVETAIL_HOST_DEVICE bool IsNan(float x) {
  return (BitCast<uint32_t>(x) & 0x7fffffff) > kFloatInfinity;
}
DOVETAIL_HOST_DEVICE bool IsNan(double x) {
  return (BitCast<uint64_t>(x) & ~(uint64_t{1} << 63)) > uint64_t{0x7ff} << 52;
}

// ---- Between float32 and float64 ----

DOVETAIL_HOST_DEVICE double Widened(float x) {
  if (!IsNan(x)) return static_cast<double>(x);
  const auto code = BitCast<uint32_t>(x);
  return BitCast<double>(static_cast<uint64_t>(code >> 31) << 63 | uint64_t{0x7ff8} << 48 |
                         static_cast<uint64_t>(code & 0x7fffff) << 29);
}

DOVETAIL_HOST_DEVICE float Narrowed(double x) {
  if (!IsNan(x)) return static_cast<float>(x);
  const auto code = BitCast<uint64_t>(x);
  return BitCast<float>(static_cast<uint32_t>(code >> 63) << 31 | 0x7fc00000 |
                        (static_cast<uint32_t>(code >> 29) & 0x7fffff));
}

// Rounded to odd, so that a second rounding, to at most 22 bits, gives the result of a single one.
DOVETAIL_HOST_DEVICE float RoundedToOdd(double x) {
  const float nearest = Narrowed(x);
  const auto code = BitCast<uint32_t>(nearest);
  const auto wide = static_cast<double>(nearest);
  if (wide == x || IsNan(x)) return nearest;
  const bool away = (wide < 0 ? -wide : wide) > (x < 0 ? -x : x);
  return BitCast<float>((code - (away ? 1 : 0)) | 1);
}

// ---- From floating point to integers ----

// Truncates; gives the smallest Int if the number is out of range.
template <typename Int, typename Float>
DOVETAIL_HOST_DEVICE Int Truncated(Float x) {
  constexpr Int kSmallest = static_cast<Int>(std::make_unsigned_t<Int>{1} << (8 * sizeof(Int) - 1));
  constexpr auto kLeast = static_cast<Float>(kSmallest);
  return x >= kLeast && x < -kLeast ? static_cast<Int>(x) : kSmallest;
}

// The low kBytes of the integer that `x` becomes. Small integers take the low bits of an int32.
template <int kBytes, typename Float>
DOVETAIL_HOST_DEVICE uint64_t IntegerOf(Float x, bool is_signed) {
  using Int = std::conditional_t<kBytes == 8, int64_t, int32_t>;
  using Uint = std::make_unsigned_t<Int>;
  if (kBytes < 4 || is_signed) return static_cast<Uint>(Truncated<Int>(x));
  constexpr Uint kTop = Uint{1} << (8 * sizeof(Uint) - 1);
  constexpr auto kHalf = static_cast<Float>(kTop);
  if (!(x >= kHalf)) return static_cast<Uint>(Truncated<Int>(x));
  return static_cast<Uint>(Truncated<Int>(x - kHalf)) ^ kTop;
}

// ---- To narrow floating point ----

DOVETAIL_HOST_DEVICE uint32_t EncodeExponent(uint32_t code) {
  // Subnormal float32 numbers above 2^-127 become 2^-126.
  const uint32_t rounded = (code + 0x400000 - (code == 0x400000 ? 1 : 0)) >> 23;
  const bool is_positive = code - 1 < 0x7fffffffu;
  return is_positive && rounded < 0xff ? rounded : 0xff;
}

// The rounded code without the sign; it may be above the largest code. `size` is the code of a
// float32 without the sign, and no NaN.
DOVETAIL_HOST_DEVICE uint32_t RoundMagnitude(const NarrowFormat& f, uint32_t size) {
  if (f.has_exponents_of_float32 || size >= f.least_normal) {
    const uint32_t last_bit = size >> f.dropped_bits & 1;
    const uint32_t rounded = size + (1u << (f.dropped_bits - 1)) - 1 + last_bit;
    const uint32_t first = f.has_exponents_of_float32 ? 0 : f.least_normal - (1u << 23);
    return (rounded - first) >> f.dropped_bits;
  }
  // The sum with a large power of two is rounded to the last bit of a subnormal number.
  const uint32_t power = f.least_normal + (f.dropped_bits << 23);
  return BitCast<uint32_t>(BitCast<float>(power) + BitCast<float>(size)) - power;
}

DOVETAIL_HOST_DEVICE uint32_t EncodeNarrow(const NarrowFormat& f, float x) {
  const auto code = BitCast<uint32_t>(x);
  if (f.has_only_exponents) return EncodeExponent(code);
  const uint32_t size = code & 0x7fffffff;
  const uint32_t sign = code >> (32 - f.bits) & f.sign_mask;
  uint32_t magnitude = 0;
  if (size > kFloatInfinity) {
    magnitude = f.nan | (size >> f.dropped_bits & f.payload_mask);
    return f.has_no_negative_zero ? magnitude : sign | magnitude;
  }
  magnitude = RoundMagnitude(f, size);
  if (magnitude > f.max_finite) return f.has_no_negative_zero ? f.nan : sign | f.too_large;
  return f.has_no_negative_zero && magnitude == 0 ? 0 : sign | magnitude;
}

// ---- Any to any ----

template <int kTo>
DOVETAIL_HOST_DEVICE uint64_t CastInteger(const CastFormats& f, uint64_t x) {
  const bool is_signed = f.from == NumberKind::kSigned;
  if (f.to == NumberKind::kBool) return x != 0 ? 1 : 0;
  if (f.to == NumberKind::kSigned || f.to == NumberKind::kUnsigned) return x;
  if constexpr (kTo == 8) {
    return BitCast<uint64_t>(is_signed ? static_cast<double>(static_cast<int64_t>(x))
                                       : static_cast<double>(x));
  } else {
    const float number =
        is_signed ? static_cast<float>(static_cast<int64_t>(x)) : static_cast<float>(x);
    if constexpr (kTo == 4) return BitCast<uint32_t>(number);
    return EncodeNarrow(f.narrow, number);
  }
}

template <int kTo>
DOVETAIL_HOST_DEVICE uint64_t CastFloat(const CastFormats& f, float x) {
  if (f.to == NumberKind::kBool) return x != 0 ? 1 : 0;  // NaN is true
  if (f.to == NumberKind::kSigned || f.to == NumberKind::kUnsigned) {
    return IntegerOf<kTo>(x, f.to == NumberKind::kSigned);
  }
  if constexpr (kTo == 8) return BitCast<uint64_t>(Widened(x));
  if constexpr (kTo == 4) return BitCast<uint32_t>(x);
  return EncodeNarrow(f.narrow, x);
}

template <int kTo>
DOVETAIL_HOST_DEVICE uint64_t CastDouble(const CastFormats& f, double x) {
  if (f.to == NumberKind::kBool) return x != 0 ? 1 : 0;
  if (f.to == NumberKind::kSigned || f.to == NumberKind::kUnsigned) {
    return IntegerOf<kTo>(x, f.to == NumberKind::kSigned);
  }
  if constexpr (kTo == 8) return BitCast<uint64_t>(x);
  if constexpr (kTo == 4) return BitCast<uint32_t>(Narrowed(x));
  return EncodeNarrow(f.narrow, f.narrow.rounds_doubles_to_odd ? RoundedToOdd(x) : Narrowed(x));
}

// An element of kFrom bytes (2, 4, 8) as one of kTo bytes (1, 2, 4, 8).
template <int kFrom, int kTo>
DOVETAIL_HOST_DEVICE typename UnitOf<kTo>::Type CastElement(const CastFormats& f,
                                                            typename UnitOf<kFrom>::Type x) {
  using Out = typename UnitOf<kTo>::Type;
  using Signed = std::make_signed_t<typename UnitOf<kFrom>::Type>;
  if (f.from == NumberKind::kSigned) {
    return static_cast<Out>(
        CastInteger<kTo>(f, static_cast<uint64_t>(static_cast<int64_t>(static_cast<Signed>(x)))));
  }
  if (f.from == NumberKind::kUnsigned) return static_cast<Out>(CastInteger<kTo>(f, x));
  if constexpr (kFrom == 8) {
    return static_cast<Out>(CastDouble<kTo>(f, BitCast<double>(x)));
  } else if constexpr (kFrom == 4) {
    return static_cast<Out>(CastFloat<kTo>(f, BitCast<float>(x)));
  } else {
    const float number = f.from == NumberKind::kBFloat16 ? static_cast<float>(bfloat16::FromBits(x))
                                                         : static_cast<float>(float16::FromBits(x));
    return static_cast<Out>(CastFloat<kTo>(f, number));
  }
}

// Whether the number is not 0, as for a bool. NaN is true.
template <int kFrom>
DOVETAIL_HOST_DEVICE bool IsTrue(NumberKind from, typename UnitOf<kFrom>::Type x) {
  CastFormats formats;
  formats.from = from;
  formats.to = NumberKind::kBool;
  return CastElement<kFrom, 1>(formats, x) != 0;
}

// ---- The pairs of cast_pairs.inc ----

// The type of an element's code.
template <typename T>
using BitsOf = typename UnitOf<sizeof(T)>::Type;

DOVETAIL_HOST_DEVICE float NumberOf(float, uint32_t bits) { return BitCast<float>(bits); }
template <typename T>
DOVETAIL_HOST_DEVICE float NumberOf(T, BitsOf<T> bits) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>) {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
    if ((bits & 0x7fff) <= 0x7c00) return number;
  }
#endif
  return static_cast<float>(T::FromBits(bits));
}

DOVETAIL_HOST_DEVICE uint32_t CodeOf(float, float number) { return BitCast<uint32_t>(number); }
template <typename T>
DOVETAIL_HOST_DEVICE BitsOf<T> CodeOf(T, float number) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float16>) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    if (!IsNan(number)) return bits;
  }
#endif
  return T(number).bits;
}

using float32 = float;

template <typename From, typename To>
DOVETAIL_HOST_DEVICE BitsOf<To> CastNumber(BitsOf<From> bits) {
  return CodeOf(To{}, NumberOf(From{}, bits));
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_CAST_ELEMENT_H_
