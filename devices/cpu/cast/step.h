// One step of a cast: a loop over elements without gaps, compiled for each SIMD level.
//
//   struct Halve {                                  // an Op: what happens to one element
//     using In = float;
//     using Out = double;
//     static Out Do(In x) { return x / 2; }
//   };
//   CastStep step = StepAt<Halve>(BestSimdLevel());
//   step(src, dst, 1000);                           // 1000 elements
//
// Steps take memory of any alignment; src and dst may not overlap. They are pure: any thread, no
// errors.

#ifndef DOVETAIL_DEVICES_CPU_CAST_STEP_H_
#define DOVETAIL_DEVICES_CPU_CAST_STEP_H_

#include <cstddef>
#include <cstring>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/cast/target.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail::inline DOVETAIL_ABI {

using CastStep = void (*)(const void* src, void* dst, size_t n);

namespace internal_cast {

// Written so that the compiler makes vectors of it: an Op has no branches, and loads and stores by
// memcpy may be unaligned. Inlined into a function of each level below, whose instructions it gets.
template <typename Op>
__attribute__((always_inline)) inline void Loop(const void* __restrict src, void* __restrict dst,
                                                size_t n) {
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  for (size_t i = 0; i < n; ++i) {
    typename Op::In in;
    std::memcpy(&in, from + i * sizeof in, sizeof in);
    const typename Op::Out out = Op::Do(in);
    std::memcpy(to + i * sizeof out, &out, sizeof out);
  }
}

template <typename Op>
void RunBaseline(const void* src, void* dst, size_t n) {
  Loop<Op>(src, dst, n);
}
#if defined(__x86_64__)
template <typename Op>
DOVETAIL_TARGET_AVX2 void RunAvx2(const void* src, void* dst, size_t n) {
  Loop<Op>(src, dst, n);
}
template <typename Op>
DOVETAIL_TARGET_AVX512 void RunAvx512(const void* src, void* dst, size_t n) {
  Loop<Op>(src, dst, n);
}
#endif

}  // namespace internal_cast

// The loop over `Op` for a level; the levels below AVX2 have one in common. With kWide = false that
// for AVX-512 is the one for AVX2: for steps that memory bounds anyway.
template <typename Op, bool kWide = true>
constexpr CastStep StepAt([[maybe_unused]] SimdLevel level) {
#if defined(__x86_64__)
  if constexpr (kWide) {
    if (level == SimdLevel::kAvx512) return &internal_cast::RunAvx512<Op>;
  }
  if (level == SimdLevel::kAvx2 || level == SimdLevel::kAvx512) return &internal_cast::RunAvx2<Op>;
#endif
  return &internal_cast::RunBaseline<Op>;
}

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_CAST_STEP_H_
