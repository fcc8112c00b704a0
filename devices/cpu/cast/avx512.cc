#include "dovetail/devices/cpu/cast/format.h"
#include "dovetail/devices/cpu/cast/x86.h"

#if defined(__x86_64__)
#include <immintrin.h>
// g++ 12 warns about the "undefined" operands in its own headers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_cast {
namespace {

constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

DOVETAIL_TARGET_AVX512 inline __m256i Load256(const char* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Ternary logic: the second vector where the third has a 1, else the first.
constexpr int kOrMasked = 0xf8;

DOVETAIL_TARGET_AVX512 void FromHalf(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 32, to += 64) {
    _mm512_storeu_ps(to, _mm512_cvtph_ps(Load256(from)));
  }
  CastRest<DecodeOp<kFloat16Format>, 16>(&FromHalf, src, from, to, n);
}

DOVETAIL_TARGET_AVX512 void ToHalf(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 32; n -= 32, from += 128, to += 64) {
    const __m256i low = _mm512_cvtps_ph(_mm512_loadu_ps(from), kToNearest);
    const __m256i high = _mm512_cvtps_ph(_mm512_loadu_ps(from + 64), kToNearest);
    _mm512_storeu_si512(to, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
  }
  CastRest<EncodeOp<kFloat16Format>, 32>(&ToHalf, src, from, to, n);
}

DOVETAIL_TARGET_AVX512 inline bool HasNan(__m512 a, __m512 b, __m512 c, __m512 d) {
  return (_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) | _mm512_cmp_ps_mask(c, d, _CMP_UNORD_Q)) != 0;
}

// Rounds each lane to its upper half; the lower half keeps leftover bits.
DOVETAIL_TARGET_AVX512 inline __m512i RoundToUpper(__m512 x) {
  const __m512i code = _mm512_castps_si512(x);
  const __m512i last = _mm512_and_si512(_mm512_srli_epi32(code, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(_mm512_add_epi32(code, _mm512_set1_epi32(0x7fff)), last);
}

DOVETAIL_TARGET_AVX512 void ToBFloat(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  // The indices of the upper halves of the lanes of two vectors.
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i uppers = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(4 << 16 | 4)),
                                          _mm512_set1_epi32(3 << 16 | 1));
  for (; n >= 64; n -= 64, from += 256, to += 128) {
    const __m512 a = _mm512_loadu_ps(from), b = _mm512_loadu_ps(from + 64);
    const __m512 c = _mm512_loadu_ps(from + 128), d = _mm512_loadu_ps(from + 192);
    if (HasNan(a, b, c, d)) {
      Loop<EncodeOp<kBFloat16Format>>(from, to, 64);
      continue;
    }
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(RoundToUpper(a), uppers, RoundToUpper(b)));
    _mm512_storeu_si512(to + 64,
                        _mm512_permutex2var_epi16(RoundToUpper(c), uppers, RoundToUpper(d)));
  }
  CastRest<EncodeOp<kBFloat16Format>, 64>(&ToBFloat, src, from, to, n);
}

// The sum of EncodeOp with the sign of the number. The upper half is the sign, the exponent (larger
// by that of kShift) and zeros; the lower half is the rounded significand.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 inline __m512i Sum(__m512 x) {
  using Op = EncodeOp<f>;
  constexpr int kLargerWithSignOfFirst = 0b0011;
  const __m512 least = _mm512_castsi512_ps(_mm512_set1_epi32(Op::kLeastNormal));
  const __m512 floor = _mm512_range_ps(x, least, kLargerWithSignOfFirst);
  const __m512 power = _mm512_and_ps(
      floor, _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(0x80000000u | Op::kInfinity))));
  return _mm512_castps_si512(_mm512_fmadd_ps(power, _mm512_set1_ps(Op::kShift), x));
}

// The codes of two vectors, as words, in alternating quarters of the two. The top bit is the sign;
// the code without sign begins at bit 7 - mantissa_bits. The code of a number that is far too large
// takes more than 7 bits, but never the sign bit.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 inline __m512i Codes(__m512 a, __m512 b) {
  // The upper half of a sum is its sign and exponent and the lower half the significand: in the
  // word, one step is 2^7 in the former and 2^(7 - mantissa_bits) in the latter. A negative sum
  // comes out lower by 2^15.
  const __m512i steps = _mm512_set1_epi32((1 << 16) | (1 << (7 - f.mantissa_bits)));
  const __m512i words =
      _mm512_packs_epi32(_mm512_madd_epi16(Sum<f>(a), steps), _mm512_madd_epi16(Sum<f>(b), steps));
  return _mm512_sub_epi16(words, _mm512_set1_epi16(EncodeOp<f>::kLeastOfSum << 7));
}

// To an 8-bit format in which every number that is too large has the code max_finite() + 1.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 void ToByte(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  const __m512i in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  constexpr int kBelow = 7 - f.mantissa_bits;
  for (; n >= 64; n -= 64, from += 256, to += 64) {
    const __m512 a = _mm512_loadu_ps(from), b = _mm512_loadu_ps(from + 64);
    const __m512 c = _mm512_loadu_ps(from + 128), d = _mm512_loadu_ps(from + 192);
    if (HasNan(a, b, c, d)) {
      Loop<EncodeOp<f>>(from, to, 64);
      continue;
    }
    const __m512i ab = Codes<f>(a, b), cd = Codes<f>(c, d);
    // Codes that exceed a byte become 0x7f.
    __m512i size = _mm512_packs_epi16(_mm512_srli_epi16(_mm512_slli_epi16(ab, 1), kBelow + 1),
                                      _mm512_srli_epi16(_mm512_slli_epi16(cd, 1), kBelow + 1));
    if constexpr (f.max_finite() + 1 < 0x7f) {
      size = _mm512_min_epu8(size, _mm512_set1_epi8(f.max_finite() + 1));
    }
    const __m512i codes =
        _mm512_ternarylogic_epi32(size, _mm512_packs_epi16(ab, cd), sign, kOrMasked);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(in_order, codes));
  }
  CastRest<EncodeOp<f>, 64>(&ToByte<f>, src, from, to, n);
}

// A float8 as the float16 with the same bits; for float8_e4m3fn the result is too small by a factor
// of kE4M3Scale.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 inline __m512i AsHalves(__m256i codes) {
  if constexpr (f == kFloat8E5M2Format) {
    return _mm512_slli_epi16(_mm512_cvtepu8_epi16(codes), 8);
  } else {
    const __m512i placed = _mm512_slli_epi16(_mm512_cvtepi8_epi16(codes), 7);
    const __m512i halves = _mm512_and_si512(placed, _mm512_set1_epi16(static_cast<short>(0xbfff)));
    // All ones is NaN: adding one carries into the bit that makes the float16 a NaN.
    const __m512i carry = _mm512_add_epi16(halves, _mm512_set1_epi16(0x80));
    return _mm512_ternarylogic_epi32(halves, carry, _mm512_set1_epi16(0x4000), kOrMasked);
  }
}

template <FloatFormat f>
DOVETAIL_TARGET_AVX512 void FromByte(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  const __m512 scale = _mm512_set1_ps(kE4M3Scale);
  for (; n >= 32; n -= 32, from += 32, to += 128) {
    const __m512i halves = AsHalves<f>(Load256(from));
    __m512 low = _mm512_cvtph_ps(_mm512_castsi512_si256(halves));
    __m512 high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1));
    if constexpr (f != kFloat8E5M2Format) {
      low = _mm512_mul_ps(low, scale);
      high = _mm512_mul_ps(high, scale);
    }
    _mm512_storeu_ps(to, low);
    _mm512_storeu_ps(to + 64, high);
  }
  CastRest<DecodeOp<f>, 32>(&FromByte<f>, src, from, to, n);
}

}  // namespace

CastStep Avx512WidenStep(DType narrow) {
  if (narrow == kFloat16) return &FromHalf;
  if (narrow == kFloat8E4M3Fn) return &FromByte<kFloat8E4M3FnFormat>;
  if (narrow == kFloat8E5M2) return &FromByte<kFloat8E5M2Format>;
  return nullptr;
}

CastStep Avx512NarrowStep(DType narrow) {
  if (narrow == kFloat16) return &ToHalf;
  if (narrow == kBFloat16) return &ToBFloat;
  if (narrow == kFloat8E4M3Fn) return &ToByte<kFloat8E4M3FnFormat>;
  if (narrow == kFloat8E5M2) return &ToByte<kFloat8E5M2Format>;
  return nullptr;
}

}  // namespace internal_cast
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
#endif
