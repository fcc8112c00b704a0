#include "dovetail/devices/cpu/cast/format.h"
#include "dovetail/devices/cpu/cast/x86.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_cast {
namespace {

DOVETAIL_TARGET_AVX2 inline __m128i Load128(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

DOVETAIL_TARGET_AVX2 inline __m256 LoadFloats(const char* p) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
}
DOVETAIL_TARGET_AVX2 inline void Store256(char* p, __m256i x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}

DOVETAIL_TARGET_AVX2 void FromHalf(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 8; n -= 8, from += 16, to += 32) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm256_cvtph_ps(Load128(from)));
  }
  CastRest<DecodeOp<kFloat16Format>, 8>(&FromHalf, src, from, to, n);
}

DOVETAIL_TARGET_AVX2 void ToHalf(const void* src, void* dst, size_t n) {
  constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 64, to += 32) {
    const __m128i low = _mm256_cvtps_ph(LoadFloats(from), kToNearest);
    const __m128i high = _mm256_cvtps_ph(LoadFloats(from + 32), kToNearest);
    Store256(to, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
  }
  CastRest<EncodeOp<kFloat16Format>, 16>(&ToHalf, src, from, to, n);
}

DOVETAIL_TARGET_AVX2 inline bool HasNan(__m256 a, __m256 b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
}

// Rounds each lane to its upper half, and moves it to the lower half.
DOVETAIL_TARGET_AVX2 inline __m256i RoundToUpper(__m256 x) {
  const __m256i code = _mm256_castps_si256(x);
  const __m256i last = _mm256_and_si256(_mm256_srli_epi32(code, 16), _mm256_set1_epi32(1));
  const __m256i up = _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(code, up), 16);
}

DOVETAIL_TARGET_AVX2 void ToBFloat(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 64, to += 32) {
    const __m256 a = LoadFloats(from), b = LoadFloats(from + 32);
    if (HasNan(a, b)) {
      Loop<EncodeOp<kBFloat16Format>>(from, to, 16);
      continue;
    }
    const __m256i mixed = _mm256_packus_epi32(RoundToUpper(a), RoundToUpper(b));
    Store256(to, _mm256_permute4x64_epi64(mixed, 0b11'01'10'00));
  }
  CastRest<EncodeOp<kBFloat16Format>, 16>(&ToBFloat, src, from, to, n);
}

// The sum of EncodeOp: its exponent is larger by that of kShift, its low bits are the rounded
// significand, and the bits between are 0.
template <FloatFormat f>
DOVETAIL_TARGET_AVX2 inline __m256i Sum(__m256 x) {
  using Op = EncodeOp<f>;
  const __m256i size = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
  const __m256i floor = _mm256_max_epu32(size, _mm256_set1_epi32(Op::kLeastNormal));
  const __m256i power = _mm256_and_si256(floor, _mm256_set1_epi32(Op::kInfinity));
  return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(power), _mm256_set1_ps(Op::kShift),
                                             _mm256_castsi256_ps(size)));
}

// The codes without signs of two vectors, as words, in alternating halves of the two. The code of a
// number that is far too large exceeds a byte.
template <FloatFormat f>
DOVETAIL_TARGET_AVX2 inline __m256i Codes(__m256 a, __m256 b) {
  // The upper half of a sum is its exponent and the lower half the significand: one step is 2^7 in
  // the former and 2^kBelow in the latter.
  constexpr int kBelow = 7 - f.mantissa_bits;
  const __m256i steps = _mm256_set1_epi32((1 << 16) | (1 << kBelow));
  const __m256i words =
      _mm256_packs_epi32(_mm256_madd_epi16(Sum<f>(a), steps), _mm256_madd_epi16(Sum<f>(b), steps));
  return _mm256_srli_epi16(
      _mm256_sub_epi16(words, _mm256_set1_epi16(EncodeOp<f>::kLeastOfSum << 7)), kBelow);
}

// The signs of four vectors in the top bits of bytes, in the order of Codes of two pairs.
DOVETAIL_TARGET_AVX2 inline __m256i Signs(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256i ab = _mm256_packs_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
  const __m256i cd = _mm256_packs_epi32(_mm256_castps_si256(c), _mm256_castps_si256(d));
  return _mm256_and_si256(_mm256_packs_epi16(ab, cd), _mm256_set1_epi8(static_cast<char>(0x80)));
}

// To an 8-bit format in which every number that is too large has the code max_finite() + 1.
template <FloatFormat f>
DOVETAIL_TARGET_AVX2 void ToByte(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; n >= 32; n -= 32, from += 128, to += 32) {
    const __m256 a = LoadFloats(from), b = LoadFloats(from + 32);
    const __m256 c = LoadFloats(from + 64), d = LoadFloats(from + 96);
    if (HasNan(a, b) || HasNan(c, d)) {
      Loop<EncodeOp<f>>(from, to, 32);
      continue;
    }
    // Codes that exceed a byte become 0x7f.
    __m256i size = _mm256_packs_epi16(Codes<f>(a, b), Codes<f>(c, d));
    if constexpr (f.max_finite() + 1 < 0x7f) {
      size = _mm256_min_epu8(size, _mm256_set1_epi8(f.max_finite() + 1));
    }
    const __m256i codes = _mm256_or_si256(size, Signs(a, b, c, d));
    Store256(to, _mm256_permutevar8x32_epi32(codes, in_order));
  }
  CastRest<EncodeOp<f>, 32>(&ToByte<f>, src, from, to, n);
}

// A float8 as the float16 with the same bits; for float8_e4m3fn the result is too small by a factor
// of kE4M3Scale.
template <FloatFormat f>
DOVETAIL_TARGET_AVX2 inline __m256i AsHalves(__m128i codes) {
  if constexpr (f == kFloat8E5M2Format) {
    return _mm256_slli_epi16(_mm256_cvtepu8_epi16(codes), 8);
  } else {
    const __m256i placed = _mm256_slli_epi16(_mm256_cvtepi8_epi16(codes), 7);
    const __m256i halves = _mm256_and_si256(placed, _mm256_set1_epi16(static_cast<short>(0xbfff)));
    // All ones is NaN: adding one carries into the bit that makes the float16 a NaN.
    const __m256i carry = _mm256_and_si256(_mm256_add_epi16(halves, _mm256_set1_epi16(0x80)),
                                           _mm256_set1_epi16(0x4000));
    return _mm256_or_si256(halves, carry);
  }
}

template <FloatFormat f>
DOVETAIL_TARGET_AVX2 void FromByte(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  const __m256 scale = _mm256_set1_ps(f == kFloat8E5M2Format ? 1.0f : kE4M3Scale);
  for (; n >= 16; n -= 16, from += 16, to += 64) {
    const __m256i halves = AsHalves<f>(Load128(from));
    const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
    _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm256_mul_ps(low, scale));
    _mm256_storeu_ps(reinterpret_cast<float*>(to + 32), _mm256_mul_ps(high, scale));
  }
  CastRest<DecodeOp<f>, 16>(&FromByte<f>, src, from, to, n);
}

}  // namespace

CastStep Avx2WidenStep(DType narrow) {
  if (narrow == kFloat16) return &FromHalf;
  if (narrow == kFloat8E4M3Fn) return &FromByte<kFloat8E4M3FnFormat>;
  if (narrow == kFloat8E5M2) return &FromByte<kFloat8E5M2Format>;
  return nullptr;
}

CastStep Avx2NarrowStep(DType narrow) {
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
