#include "dovetail/devices/cpu/cast/native.h"

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// Truncates; gives the smallest Int if the number is out of range. The number is replaced before
// the conversion, which is undefined in C++ for numbers out of range, and without a branch.
template <typename Int, typename Float>
Int Truncate(Float x) {
  constexpr Float kLeast = static_cast<Float>(std::numeric_limits<Int>::min());
  const bool fits = x >= kLeast && x < -kLeast;
  return static_cast<Int>(fits ? x : kLeast);
}

// The same for a single number, for which x86 has an instruction.
template <typename Int, typename Float>
Int TruncateAlone(Float x) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Float, float>) {
    const __m128 number = _mm_set_ss(x);
    return sizeof(Int) == 8 ? _mm_cvttss_si64(number) : _mm_cvttss_si32(number);
  } else {
    const __m128d number = _mm_set_sd(x);
    return sizeof(Int) == 8 ? _mm_cvttsd_si64(number) : _mm_cvttsd_si32(number);
  }
#else
  return Truncate<Int>(x);
#endif
}

template <typename Uint, typename Float, typename Signed>
Uint TruncateUnsigned(Float x, Signed truncate) {
  using Int = std::make_signed_t<Uint>;
  constexpr Float kHalf = -static_cast<Float>(std::numeric_limits<Int>::min());
  const bool upper = x >= kHalf;
  const auto code = static_cast<Uint>(truncate(upper ? x - kHalf : x));
  return upper ? code ^ (Uint{1} << (8 * sizeof(Uint) - 1)) : code;
}

// Casts one element from S to D. Among integers the signedness of D does not matter, nor that of an
// S with as many bits as D or more, so only one step is compiled for each. kAlone: for single
// elements, not for vectors.
template <typename S, typename D, bool kAlone = false>
struct NumberOp {
  using In = S;
  using Out = D;
  static D Do(S x) {
    if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D>) {
      using Int = std::conditional_t<sizeof(D) == 8, int64_t, int32_t>;
      constexpr auto kTruncate = kAlone ? &TruncateAlone<Int, S> : &Truncate<Int, S>;
      if constexpr (sizeof(D) >= 4 && std::is_unsigned_v<D>) {
        return TruncateUnsigned<D>(x, kTruncate);
      } else {
        return static_cast<D>(kTruncate(x));
      }
    } else {
      return static_cast<D>(x);
    }
  }
};

// To bool, a byte of 0 or 1. NaN is true.
template <typename S>
struct TruthOp {
  using In = S;
  using Out = uint8_t;
  static uint8_t Do(S x) { return x != S{0}; }
};

// From bool: every byte except 0 is true.
template <typename D>
struct FromTruthOp {
  using In = uint8_t;
  using Out = D;
  static D Do(uint8_t x) { return static_cast<D>(x != 0); }
};

// The unsigned and the signed type of the same size.
template <size_t kSize>
using Unsigned = std::conditional_t<
    kSize == 1, uint8_t,
    std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;
template <typename T>
auto AsUnsigned() {
  if constexpr (std::is_integral_v<T>) {
    return Unsigned<sizeof(T)>{};
  } else {
    return T{};
  }
}

// The Op for a pair of types.
template <typename S, typename D, bool kAlone = false>
auto OpFor() {
  if constexpr (std::is_same_v<D, bool>) {
    return TruthOp<decltype(AsUnsigned<S>())>{};
  } else if constexpr (std::is_same_v<S, bool>) {
    return FromTruthOp<decltype(AsUnsigned<D>())>{};
  } else if constexpr (std::is_integral_v<S> && std::is_integral_v<D> && sizeof(S) >= sizeof(D)) {
    return NumberOp<Unsigned<sizeof(S)>, Unsigned<sizeof(D)>>{};
  } else if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
    return NumberOp<S, Unsigned<sizeof(D)>>{};
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<D> && sizeof(D) < 4) {
    return NumberOp<S, Unsigned<sizeof(D)>, kAlone>{};
  } else {
    return NumberOp<S, D, kAlone && std::is_floating_point_v<S> && std::is_integral_v<D>>{};
  }
}

// Only AVX-512 has vector instructions between 64-bit integers and floating point, and masks for
// numbers out of range. All other pairs are bound by memory.
template <typename S, typename D>
constexpr bool kNeedsWide =
    std::is_floating_point_v<S> ? std::is_integral_v<D>
                                : std::is_floating_point_v<D> && sizeof(S) == 8;

// Returns use.For<S, D>() for the pair of types; nullptr if there is no Op for it.
template <typename S, typename Use>
auto FromType(DType dst, Use use) -> decltype(use.template For<float, float>()) {
  if constexpr (std::is_arithmetic_v<S>) {
#define DOVETAIL_CPP_TYPE(type, id)                       \
  if constexpr (std::is_arithmetic_v<type>) {             \
    if (dst == k##id) return use.template For<S, type>(); \
  }
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_CPP_TYPE
  }
  return nullptr;
}

template <typename Use>
auto ForTypes(DType src, DType dst, Use use) -> decltype(use.template For<float, float>()) {
#define DOVETAIL_CPP_TYPE(type, id) \
  if (src == k##id) return FromType<type>(dst, use);
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_CPP_TYPE
  return nullptr;
}

struct UseDense {
  SimdLevel level;
  template <typename S, typename D>
  CastStep For() const {
    return StepAt<decltype(OpFor<S, D>()), kNeedsWide<S, D>>(level);
  }
};

struct UseStrided {
  template <typename S, typename D>
  StridedStep For() const {
    return StridedStepOf<decltype(OpFor<S, D, /*kAlone=*/true>())>();
  }
};

struct RoundToOddOp {
  using In = double;
  using Out = float;
  static float Do(double x) {
    const float nearest = static_cast<float>(x);
    const auto code = std::bit_cast<uint32_t>(nearest);
    const bool inexact = static_cast<double>(nearest) != x;  // also true for NaN, which stays NaN
    const bool away = std::abs(static_cast<double>(nearest)) > std::abs(x);
    // Truncated, with the last bit set if anything was cut off.
    return std::bit_cast<float>(inexact ? (code - away) | 1 : code);
  }
};

}  // namespace

CastStep NativeStep(DType src, DType dst, SimdLevel level) {
  return ForTypes(src, dst, UseDense{level});
}

StridedStep NativeStridedStep(DType src, DType dst) { return ForTypes(src, dst, UseStrided{}); }

CastStep RoundToOddStep(SimdLevel level) { return StepAt<RoundToOddOp, /*kWide=*/false>(level); }

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
