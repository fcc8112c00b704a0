#include "dovetail/devices/cpu/cast_x86.h"

#include "dovetail/devices/cpu/cast_format.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
// g++ 12 takes the "undefined" operands in its own headers for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace dovetail::inline DOVETAIL_ABI {

#if defined(__x86_64__)
namespace {

const __m128i* At128(const char* p) { return reinterpret_cast<const __m128i*>(p); }
__m128i* At128(char* p) { return reinterpret_cast<__m128i*>(p); }
const __m256i* At256(const char* p) { return reinterpret_cast<const __m256i*>(p); }
__m256i* At256(char* p) { return reinterpret_cast<__m256i*>(p); }
const float* Floats(const char* p) { return reinterpret_cast<const float*>(p); }
float* Floats(char* p) { return reinterpret_cast<float*>(p); }

constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

DOVETAIL_TARGET_AVX2 void HalfToFloatAvx2(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 8; n -= 8, from += 16, to += 32) {
    _mm256_storeu_ps(Floats(to), _mm256_cvtph_ps(_mm_loadu_si128(At128(from))));
  }
  internal_cast::Loop<DecodeOp<kFloat16Format>>(from, to, n);
}

DOVETAIL_TARGET_AVX2 void FloatToHalfAvx2(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 8; n -= 8, from += 32, to += 16) {
    _mm_storeu_si128(At128(to), _mm256_cvtps_ph(_mm256_loadu_ps(Floats(from)), kToNearest));
  }
  internal_cast::Loop<EncodeOp<kFloat16Format>>(from, to, n);
}

DOVETAIL_TARGET_AVX512 void HalfToFloatAvx512(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 32, to += 64) {
    _mm512_storeu_ps(Floats(to), _mm512_cvtph_ps(_mm256_loadu_si256(At256(from))));
  }
  internal_cast::Loop<DecodeOp<kFloat16Format>>(from, to, n);
}

DOVETAIL_TARGET_AVX512 void FloatToHalfAvx512(const void* src, void* dst, size_t n) {
  auto* from = static_cast<const char*>(src);
  auto* to = static_cast<char*>(dst);
  for (; n >= 16; n -= 16, from += 64, to += 32) {
    _mm256_storeu_si256(At256(to), _mm512_cvtps_ph(_mm512_loadu_ps(Floats(from)), kToNearest));
  }
  internal_cast::Loop<EncodeOp<kFloat16Format>>(from, to, n);
}

CastStep ByLevel(SimdLevel level, CastStep avx2, CastStep avx512) {
  switch (level) {
    case SimdLevel::kBaseline:
      break;
    case SimdLevel::kAvx2:
      return avx2;
    case SimdLevel::kAvx512:
      return avx512;
  }
  return nullptr;
}

}  // namespace

CastStep X86WidenStep(DType narrow, SimdLevel level) {
  if (narrow == kFloat16) return ByLevel(level, &HalfToFloatAvx2, &HalfToFloatAvx512);
  return nullptr;
}

CastStep X86NarrowStep(DType narrow, SimdLevel level) {
  if (narrow == kFloat16) return ByLevel(level, &FloatToHalfAvx2, &FloatToHalfAvx512);
  return nullptr;
}
#else
CastStep X86WidenStep(DType, SimdLevel) { return nullptr; }
CastStep X86NarrowStep(DType, SimdLevel) { return nullptr; }
#endif

}  // namespace dovetail::inline DOVETAIL_ABI
