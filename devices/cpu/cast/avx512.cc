#include "dovetail/devices/cpu/cast/format.h"
#include "dovetail/devices/cpu/cast/x86.h"

#if defined(__x86_64__)
#include <immintrin.h>
// g++ 12 takes the "undefined" operands in its own headers for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace dovetail::inline DOVETAIL_ABI {
namespace internal_cast {
namespace {

constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

DOVETAIL_TARGET_AVX512 inline __m256i Load256(const char* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
DOVETAIL_TARGET_AVX512 inline void Store256(char* p, __m256i x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
}

// For ternary logic of three vectors: the second where the first has a 1, else the third; the first
// or the second where the third has a 1.
constexpr int kSelect = 0xca;
constexpr int kOrMasked = 0xf8;

// Where the low and the high halves of the 32-bit lanes of two vectors are.
struct HalfPlaces {
  __m512i low, high;
};
DOVETAIL_TARGET_AVX512 inline HalfPlaces Places() {
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i pairs = _mm512_or_si512(
      _mm512_slli_epi32(lanes, 2),
      _mm512_slli_epi32(_mm512_add_epi32(_mm512_slli_epi32(lanes, 2), _mm512_set1_epi32(2)), 16));
  return {pairs, _mm512_add_epi16(pairs, _mm512_set1_epi16(1))};
}

DOVETAIL_TARGET_AVX512 void FromHalf(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 32, to += 64) {
    _mm512_storeu_ps(to, _mm512_cvtph_ps(Load256(from)));
  }
  Loop<DecodeOp<kFloat16Format>>(from, to, n);
}

DOVETAIL_TARGET_AVX512 void ToHalf(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 64, to += 32) {
    Store256(to, _mm512_cvtps_ph(_mm512_loadu_ps(from), kToNearest));
  }
  Loop<EncodeOp<kFloat16Format>>(from, to, n);
}

DOVETAIL_TARGET_AVX512 void ToBFloat(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  const HalfPlaces places = Places();
  const __m512i one = _mm512_set1_epi16(1);
  const __m512i tie = _mm512_set1_epi16(static_cast<short>(0x8000));
  for (; n >= 32; n -= 32, from += 128, to += 64) {
    const __m512i a = _mm512_loadu_si512(from);
    const __m512i b = _mm512_loadu_si512(from + 64);
    if (_mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_UNORD_Q) != 0) {
      Loop<EncodeOp<kBFloat16Format>>(from, to, 32);
      continue;
    }
    const __m512i high = _mm512_permutex2var_epi16(a, places.high, b);
    const __m512i low = _mm512_permutex2var_epi16(a, places.low, b);
    // A tie goes up from an odd number: as if the rest were a little more than half.
    const __m512i rest = _mm512_ternarylogic_epi32(low, high, one, kOrMasked);
    const __mmask32 up = _mm512_cmpgt_epu16_mask(rest, tie);
    _mm512_storeu_si512(to, _mm512_mask_add_epi16(high, up, high, one));
  }
  Loop<EncodeOp<kBFloat16Format>>(from, to, n);
}

// What EncodeOp calls the sum, with the sign of the number: its sign, its exponent (larger by that
// of kShift), no bits, and in the lower half the rounded significand.
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

// The codes of two vectors of sums, in the lower halves of the lanes those of `a`, in the upper
// ones those of `b`.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 inline __m512i Codes(__m512i a, __m512i b) {
  constexpr uint32_t kLeast = EncodeOp<f>::kLeastNormal + ((23 - f.mantissa_bits) << 23);
  constexpr int kPlace = 23 - f.mantissa_bits;
  const __m512i lower = _mm512_set1_epi32(0xffff);
  const __m512i significand =
      _mm512_ternarylogic_epi32(lower, a, _mm512_slli_epi32(b, 16), kSelect);
  const __m512i top = _mm512_ternarylogic_epi32(lower, _mm512_srli_epi32(a, 16), b, kSelect);
  const __m512i exponent =
      _mm512_srli_epi16(_mm512_and_si512(top, _mm512_set1_epi16(0x7fff)), kPlace - 16);
  const __m512i least = _mm512_set1_epi16(kLeast >> kPlace);
  const __m512i most = _mm512_set1_epi16((kLeast >> kPlace) + f.max_finite() + 1);
  const __m512i size =
      _mm512_sub_epi16(_mm512_min_epu16(_mm512_add_epi16(significand, exponent), most), least);
  return _mm512_ternarylogic_epi32(size, _mm512_srli_epi16(top, 8), _mm512_set1_epi16(0x80),
                                   kOrMasked);
}

// Bytes that lie as a matrix of 16 rows, each a lane, in the order of its columns.
DOVETAIL_TARGET_AVX512 inline __m512i ByColumns(__m512i rows) {
  const __m512i in_quarter =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m512i quarters = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(quarters, _mm512_shuffle_epi8(rows, in_quarter));
}

// To a format of 8 bits the codes of which that are too large are one, max_finite() + 1.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 void ToByte(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 64; n -= 64, from += 256, to += 64) {
    const __m512 a = _mm512_loadu_ps(from), b = _mm512_loadu_ps(from + 64);
    const __m512 c = _mm512_loadu_ps(from + 128), d = _mm512_loadu_ps(from + 192);
    if ((_mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) | _mm512_cmp_ps_mask(c, d, _CMP_UNORD_Q)) != 0) {
      Loop<EncodeOp<f>>(from, to, 64);
      continue;
    }
    const __m512i even = Codes<f>(Sum<f>(a), Sum<f>(c));
    const __m512i odd = Codes<f>(Sum<f>(b), Sum<f>(d));
    _mm512_storeu_si512(to, ByColumns(_mm512_or_si512(even, _mm512_slli_epi32(odd, 8))));
  }
  Loop<EncodeOp<f>>(from, to, n);
}

// A float8 as the float16 whose bits it has; float8_e4m3fn comes out smaller by kE4M3Scale.
template <FloatFormat f>
DOVETAIL_TARGET_AVX512 inline __m512i AsHalves(__m256i codes) {
  if constexpr (f == kFloat8E5M2Format) {
    return _mm512_slli_epi16(_mm512_cvtepu8_epi16(codes), 8);
  } else {
    const __m512i placed = _mm512_slli_epi16(_mm512_cvtepi8_epi16(codes), 7);
    const __m512i halves = _mm512_and_si512(placed, _mm512_set1_epi16(static_cast<short>(0xbfff)));
    // All ones is the NaN: one more carries into the bit that makes it one.
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
  Loop<DecodeOp<f>>(from, to, n);
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
}  // namespace dovetail::inline DOVETAIL_ABI
#endif
