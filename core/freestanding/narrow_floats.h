// C++ types for elements of narrow floating-point formats, and fast conversions of arrays of them.
// C++17, and only the standard library.
//
//   void Axpy(float a, const bfloat16* x, const bfloat16* y, int64_t n, bfloat16* out) {
//     for (int64_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];  // computed in float
//   }
//
//   float block[1024];
//   Widen(x, 1024, block);     // bfloat16 → float
//   Narrow(block, 1024, out);  // float → bfloat16
//
// A NarrowFloat holds the bits of one element. It converts implicitly to float, which is exact, and
// from float, which rounds to nearest, ties to even. Arithmetic and comparisons are those of float.
// A number that is too large becomes an infinity; in float8_e4m3fn, which has none, it becomes NaN.
// NaN stays NaN with its sign, and -0 stays -0. Results do not depend on whether the thread flushes
// subnormal numbers to zero. They are those of CopyInto (core/copy.h), to the bit.
//
// A double converts through float, which rounds twice. `b ? x : 0.0f` is ambiguous: write float(x).
//
// Widen and Narrow convert blocks of elements by SIMD instructions: AVX2 and F16C if the compiler
// may use them (-march=x86-64-v3, or -mavx2 -mf16c). A kernel is fastest if it widens a block of a
// few KiB, computes in float, and narrows the result.
//
// CUDA and HIP kernels compute with these types, too: their conversions run on the device. Widen
// and Narrow are functions of the host.
//
// A binary may have files that are compiled for different CPUs: the functions are always inlined,
// so that no file runs another one's code. Nothing fails; any thread.

#ifndef DOVETAIL_CORE_FREESTANDING_NARROW_FLOATS_H_
#define DOVETAIL_CORE_FREESTANDING_NARROW_FLOATS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__F16C__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#include "dovetail/core/freestanding/abi.h"
#include "dovetail/core/freestanding/type_widths.h"

#define DOVETAIL_INLINED [[gnu::always_inline]]
// Of the conversions of one element, which CUDA and HIP kernels call on the device.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define DOVETAIL_INLINED_ON_DEVICE [[gnu::always_inline]] __host__ __device__
#else
#define DOVETAIL_INLINED_ON_DEVICE [[gnu::always_inline]]
#endif
// Whether F16C converts, which is on the host alone.
#if defined(__F16C__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#define DOVETAIL_CONVERTS_BY_F16C 1
#else
#define DOVETAIL_CONVERTS_BY_F16C 0
#endif
#define DOVETAIL_HAS_BIT_CAST 0
#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#undef DOVETAIL_HAS_BIT_CAST
#define DOVETAIL_HAS_BIT_CAST 1
#endif
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_narrow {

// The last argument of DOVETAIL_FLOAT_FORMAT.
enum Specials : uint8_t { kIeee, kNanOnly, kNanIsNegativeZero, kNone };

// The encodings of dtype_list.inc.
template <internal_dtype::TypeCode kCode, int kBits>
struct Format;
#define DOVETAIL_FLOAT_FORMAT(kind, bits, sign, exponent, mantissa, bias, specials) \
  template <>                                                                       \
  struct Format<internal_dtype::kind, bits> {                                       \
    static constexpr int kSignBits = sign;                                          \
    static constexpr int kMantissaBits = mantissa;                                  \
    static constexpr int kBias = bias;                                              \
    static constexpr Specials kSpecials = specials;                                 \
  };
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_FLOAT_FORMAT

// std::bit_cast in C++17. A constant expression from g++ 11 and clang 9 on.
template <typename To, typename From>
DOVETAIL_INLINED_ON_DEVICE constexpr To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "The sizes differ.");
#if DOVETAIL_HAS_BIT_CAST
  return __builtin_bit_cast(To, from);
#else
  To to{};
  std::memcpy(&to, &from, sizeof(to));
  return to;
#endif
}

// Masks instead of conditions. g++ 12 makes branches of conditions, and does not vectorise loops in
// which one side of a branch has floating-point operations.
//
// All ones if a < b, else 0.
DOVETAIL_INLINED_ON_DEVICE constexpr int32_t MaskOfLess(int32_t a, int32_t b) {
  return (a - b) >> 31;
}
DOVETAIL_INLINED_ON_DEVICE constexpr int32_t Min(int32_t a, int32_t b) {
  return b + ((a - b) & MaskOfLess(a, b));
}
DOVETAIL_INLINED_ON_DEVICE constexpr int32_t Max(int32_t a, int32_t b) {
  return b + ((a - b) & ~MaskOfLess(a, b));
}

// The portable conversions. They have no branches, so that the compiler vectorises loops of them.
template <internal_dtype::TypeCode kCode, int kBits>
struct Codec {
  using F = Format<kCode, kBits>;
  static_assert(kBits == 8 || kBits == 16, "A NarrowFloat has 8 or 16 bits.");
  static_assert(F::kSignBits == 1 && (F::kSpecials == kIeee || F::kSpecials == kNanOnly),
                "A NarrowFloat has a sign, a negative zero and NaN.");
  using Bits = std::conditional_t<kBits == 8, uint8_t, uint16_t>;

  static constexpr bool kHasInfinity = F::kSpecials == kIeee;
  static constexpr bool kHasExponentsOfFloat = F::kBias == 127;
  // Mantissa bits of a float that the format lacks.
  static constexpr int kDropped = 23 - F::kMantissaBits;
  static constexpr int32_t kSign = 1 << (kBits - 1);
  static constexpr int32_t kMagnitude = kSign - 1;
  static constexpr int32_t kLeastNormal = 1 << F::kMantissaBits;
  // The first code above the largest number: the infinity, or the NaN of kNanOnly.
  static constexpr int32_t kTooLarge = kHasInfinity ? kMagnitude & ~(kLeastNormal - 1) : kMagnitude;
  static constexpr int32_t kNan = kHasInfinity ? kTooLarge | kLeastNormal >> 1 : kTooLarge;

  static constexpr int32_t kFloatInfinity = 0x7f800000;
  // The bits of the float with the bits `code` of a normal number.
  DOVETAIL_INLINED_ON_DEVICE static constexpr int32_t FloatOfNormal(int32_t code) {
    return (code << kDropped) + ((127 - F::kBias) << 23);
  }

  DOVETAIL_INLINED_ON_DEVICE static constexpr float Decode(Bits bits) {
    if constexpr (kHasExponentsOfFloat) {
      return BitCast<float>(static_cast<uint32_t>(bits) << kDropped);
    } else {
      const int32_t code = bits & kMagnitude;
      const auto sign = static_cast<uint32_t>(bits & kSign) << (32 - kBits);
      // A subnormal number is what its mantissa adds to the least normal number. (Scaling a float
      // with the bits of `code` would read a subnormal float, which is 0 in a thread that flushes.)
      const int32_t subnormal = MaskOfLess(code, kLeastNormal);
      const auto number = BitCast<float>(FloatOfNormal(code) + (subnormal & 1 << 23));
      const auto excess = BitCast<float>(subnormal & FloatOfNormal(kLeastNormal));
      auto size = BitCast<int32_t>(number - excess);
      if constexpr (kHasInfinity) {
        size |= MaskOfLess(kTooLarge - 1, code) & kFloatInfinity;
        size |= MaskOfLess(kTooLarge, code) & 0x00400000;  // quiet
      } else {
        size |= MaskOfLess(kNan - 1, code) & 0x7ff00000;  // the NaN of the casts in devices/cpu
      }
      return BitCast<float>(sign | static_cast<uint32_t>(size));
    }
  }

  DOVETAIL_INLINED_ON_DEVICE static constexpr Bits Encode(float x) {
    const auto code = BitCast<uint32_t>(x);
    const auto size = static_cast<int32_t>(code & 0x7fffffff);
    const int32_t nan = MaskOfLess(kFloatInfinity, size);
    if constexpr (kHasExponentsOfFloat) {
      const auto unsigned_nan = static_cast<uint32_t>(nan);
      const uint32_t half = (1u << (kDropped - 1)) - 1 + (code >> kDropped & 1);
      const uint32_t rounded = (code + (half & ~unsigned_nan)) >> kDropped;
      constexpr uint32_t kPayload = kMagnitude & ~kNan;
      return static_cast<Bits>((rounded & ~(unsigned_nan & kPayload)) | (unsigned_nan & kNan));
    } else {
      // The sum with a large power of two is rounded to the last bit of a number of this format.
      // The difference of their bits is the significand.
      constexpr int32_t kLimit = FloatOfNormal(kTooLarge);
      constexpr int32_t kLeast = FloatOfNormal(kLeastNormal);
      constexpr int32_t kShift = kDropped << 23;
      const int32_t number = Min(size, kLimit);
      const int32_t power = (Max(number, kLeast) & kFloatInfinity) + kShift;
      const float sum = BitCast<float>(power) + BitCast<float>(number);
      const int32_t significand = BitCast<int32_t>(sum) - power;
      int32_t magnitude = significand + ((power - kShift - kLeast) >> kDropped);
      if constexpr (kHasInfinity) {
        // As F16C does, float16 keeps the upper bits of a NaN's payload.
        constexpr int32_t kPayload = kBits == 16 ? kLeastNormal - 1 : 0;
        magnitude |= nan & (kNan | (size >> kDropped & kPayload));
      }
      const auto sign = static_cast<int32_t>(code >> (32 - kBits)) & kSign;
      return static_cast<Bits>(sign | magnitude);
    }
  }
};

}  // namespace internal_narrow

// An element of DLPack's type {kCode, kBits, 1}. Trivial: a default-initialised one is undefined.
template <internal_dtype::TypeCode kCode, int kBits>
struct NarrowFloat {
  using Bits = typename internal_narrow::Codec<kCode, kBits>::Bits;
  Bits bits;

  NarrowFloat() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): elements are assigned what a kernel computed.
  DOVETAIL_INLINED_ON_DEVICE constexpr NarrowFloat(float x) : bits(Encode(x)) {}
  DOVETAIL_INLINED_ON_DEVICE static constexpr NarrowFloat FromBits(Bits bits) {
    NarrowFloat x{};
    x.bits = bits;
    return x;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): elements are operands of what a kernel computes.
  DOVETAIL_INLINED_ON_DEVICE constexpr operator float() const { return Decode(bits); }

  DOVETAIL_INLINED_ON_DEVICE constexpr NarrowFloat& operator+=(float x) {
    return *this = *this + x;
  }
  DOVETAIL_INLINED_ON_DEVICE constexpr NarrowFloat& operator-=(float x) {
    return *this = *this - x;
  }
  DOVETAIL_INLINED_ON_DEVICE constexpr NarrowFloat& operator*=(float x) {
    return *this = *this * x;
  }
  DOVETAIL_INLINED_ON_DEVICE constexpr NarrowFloat& operator/=(float x) {
    return *this = *this / x;
  }

 private:
  using Codec = internal_narrow::Codec<kCode, kBits>;
  static constexpr bool kIsFloat16 = kCode == internal_dtype::kFloat && kBits == 16;

  DOVETAIL_INLINED_ON_DEVICE static constexpr Bits Encode(float x) {
#if DOVETAIL_CONVERTS_BY_F16C
    if constexpr (kIsFloat16) {
      if (!__builtin_is_constant_evaluated()) return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
    }
#endif
    return Codec::Encode(x);
  }
  DOVETAIL_INLINED_ON_DEVICE static constexpr float Decode(Bits bits) {
#if DOVETAIL_CONVERTS_BY_F16C
    if constexpr (kIsFloat16) {
      if (!__builtin_is_constant_evaluated()) return _cvtsh_ss(bits);
    }
#endif
    return Codec::Decode(bits);
  }
};

using float16 = NarrowFloat<internal_dtype::kFloat, 16>;
using bfloat16 = NarrowFloat<internal_dtype::kBFloat, 16>;
using float8_e4m3fn = NarrowFloat<internal_dtype::kFloat8E4M3Fn, 8>;
using float8_e5m2 = NarrowFloat<internal_dtype::kFloat8E5M2, 8>;

namespace internal_narrow {

// A block has 256 bits of narrow elements. g++ 12 vectorises loops of a constant trip count at -O2,
// too.
template <internal_dtype::TypeCode kCode, int kBits>
DOVETAIL_INLINED inline void ConvertBlock(const NarrowFloat<kCode, kBits>* __restrict from,
                                          float* __restrict to) {
  for (int i = 0; i < 256 / kBits; ++i) to[i] = Codec<kCode, kBits>::Decode(from[i].bits);
}
template <internal_dtype::TypeCode kCode, int kBits>
DOVETAIL_INLINED inline void ConvertBlock(const float* __restrict from,
                                          NarrowFloat<kCode, kBits>* __restrict to) {
  for (int i = 0; i < 256 / kBits; ++i) to[i].bits = Codec<kCode, kBits>::Encode(from[i]);
}
#ifdef __F16C__
DOVETAIL_INLINED inline void ConvertBlock(const float16* from, float* to) {
  for (int i = 0; i < 16; i += 8) {
    const auto* halves = reinterpret_cast<const __m128i*>(from + i);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(halves)));
  }
}
DOVETAIL_INLINED inline void ConvertBlock(const float* from, float16* to) {
  for (int i = 0; i < 16; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
}
#endif
#ifdef __AVX2__
// Numbers rounded to their upper half, which moves to the lower half.
DOVETAIL_INLINED inline __m256i RoundedToUpper(__m256 x) {
  const __m256i code = _mm256_castps_si256(x);
  const __m256i last = _mm256_and_si256(_mm256_srli_epi32(code, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(code, half), 16);
}
// Takes NaN out of the loop.
DOVETAIL_INLINED inline void ConvertBlock(const float* from, bfloat16* to) {
  const __m256 a = _mm256_loadu_ps(from), b = _mm256_loadu_ps(from + 8);
  if (_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0) {  // a NaN on either side
    ConvertBlock<internal_dtype::kBFloat, 16>(from, to);
    return;
  }
  const __m256i mixed = _mm256_packus_epi32(RoundedToUpper(a), RoundedToUpper(b));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(mixed, 0xd8));
}
#endif

template <int64_t kBlock, typename From, typename To>
DOVETAIL_INLINED inline void Convert(const From* from, int64_t count, To* to) {
  if (count < kBlock) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i < count - kBlock; i += kBlock) ConvertBlock(from + i, to + i);
  // The last block may convert some elements again.
  ConvertBlock(from + (count - kBlock), to + (count - kBlock));
}

}  // namespace internal_narrow

// Converts `count` elements. The arrays must not overlap. They need the alignment of their elements
// only.
template <internal_dtype::TypeCode kCode, int kBits>
DOVETAIL_INLINED inline void Widen(const NarrowFloat<kCode, kBits>* from, int64_t count,
                                   float* to) {
  internal_narrow::Convert<256 / kBits>(from, count, to);
}
template <internal_dtype::TypeCode kCode, int kBits>
DOVETAIL_INLINED inline void Narrow(const float* from, int64_t count,
                                    NarrowFloat<kCode, kBits>* to) {
  internal_narrow::Convert<256 / kBits>(from, count, to);
}

// A copy, for kernels whose element type is a template parameter.
DOVETAIL_INLINED inline void Widen(const float* from, int64_t count, float* to) {
  if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}
DOVETAIL_INLINED inline void Narrow(const float* from, int64_t count, float* to) {
  Widen(from, count, to);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

//! @cond for Doxygen, which does not find the scope of the specialisation
template <dovetail::internal_dtype::TypeCode kCode, int kBits>
class std::numeric_limits<dovetail::NarrowFloat<kCode, kBits>> {
  using T = dovetail::NarrowFloat<kCode, kBits>;
  using Codec = dovetail::internal_narrow::Codec<kCode, kBits>;
  static constexpr T Of(int32_t code) { return T::FromBits(static_cast<typename T::Bits>(code)); }
  // Of the largest power of two.
  static constexpr int kLargestExponent =
      ((Codec::kTooLarge - 1) >> Codec::F::kMantissaBits) - Codec::F::kBias;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = Codec::kHasInfinity;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool is_iec559 = Codec::kHasInfinity;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits = Codec::F::kMantissaBits + 1;
  static constexpr int digits10 = Codec::F::kMantissaBits * 301 / 1000;
  static constexpr int max_digits10 = digits * 301 / 1000 + 2;
  static constexpr int radix = 2;
  static constexpr int min_exponent = 2 - Codec::F::kBias;
  static constexpr int min_exponent10 = -((Codec::F::kBias - 1) * 301 / 1000);
  static constexpr int max_exponent = kLargestExponent + 1;
  static constexpr int max_exponent10 = (kLargestExponent + 1) * 301 / 1000;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr T min() noexcept { return Of(Codec::kLeastNormal); }
  static constexpr T max() noexcept { return Of(Codec::kTooLarge - 1); }
  static constexpr T lowest() noexcept { return Of(Codec::kSign | (Codec::kTooLarge - 1)); }
  static constexpr T epsilon() noexcept {
    return Of((Codec::F::kBias - Codec::F::kMantissaBits) << Codec::F::kMantissaBits);
  }
  static constexpr T round_error() noexcept { return T(0.5f); }
  // 0 if has_infinity is false.
  static constexpr T infinity() noexcept { return Of(has_infinity ? Codec::kTooLarge : 0); }
  static constexpr T quiet_NaN() noexcept { return Of(Codec::kNan); }
  static constexpr T signaling_NaN() noexcept { return Of(Codec::kNan); }
  static constexpr T denorm_min() noexcept { return Of(1); }
};
//! @endcond

#undef DOVETAIL_CONVERTS_BY_F16C
#undef DOVETAIL_HAS_BIT_CAST
#undef DOVETAIL_INLINED
#undef DOVETAIL_INLINED_ON_DEVICE

#endif  // DOVETAIL_CORE_FREESTANDING_NARROW_FLOATS_H_
