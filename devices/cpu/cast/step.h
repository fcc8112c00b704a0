// One step of a cast: a loop over contiguous elements, compiled for each SIMD level.
//
//   struct Halve {                                  // an Op converts one element
//     using In = float;
//     using Out = double;
//     static Out Do(In x) { return x / 2; }
//   };
//   CastStep step = StepAt<Halve>(BestSimdLevel());
//   step(src, dst, 1000);                           // 1000 elements
//
// src and dst have any alignment and do not overlap. Any thread; nothing fails.

#ifndef DOVETAIL_DEVICES_CPU_CAST_STEP_H_
#define DOVETAIL_DEVICES_CPU_CAST_STEP_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "dovetail/core/config.h"
#include "dovetail/devices/cpu/cast/simd_attributes.h"
#include "dovetail/devices/cpu/simd_level.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using CastStep = void (*)(const void* src, void* dst, size_t n);

namespace internal_cast {

// Written to be vectorised: Ops have no branches, and memcpy allows unaligned loads and stores. It
// is inlined into one function per level below, and compiled with the instructions of that level.
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

// Cast one by one, the last elements of a step that do not fill a vector take as long as ten times
// as many others. So the last vector overlaps the one before, and writes the same values again.

// Casts all elements by vectors of kVector elements, or by shorter vectors if there are fewer.
template <typename Op, size_t kVector>
__attribute__((always_inline)) inline void LoopByVectors(const void* src, void* dst, size_t n) {
  const auto run = [&](size_t first, size_t count) __attribute__((always_inline)) {
    Loop<Op>(static_cast<const char*>(src) + first * sizeof(typename Op::In),
             static_cast<char*>(dst) + first * sizeof(typename Op::Out), count);
  };
  constexpr size_t kLeast = 8;
  if (n >= kVector) {
    const size_t rest = n % kVector;
    run(0, n - rest);
    if (rest != 0) run(n - kVector, kVector);
  } else if constexpr (kVector > kLeast) {
    constexpr size_t kHalf = kVector / 2;
    if (n < kHalf) return LoopByVectors<Op, kHalf>(src, dst, n);
    run(0, kHalf);
    run(n - kHalf, kHalf);
  } else {
    run(0, n);
  }
}

// Casts the last `n` elements, from `from` on, of a step that began at `first`.
template <typename Op, size_t kVector>
__attribute__((always_inline)) inline void CastRest(CastStep step, const void* first,
                                                    const char* from, char* to, size_t n) {
  if (n == 0) return;
  if (from == first) return LoopByVectors<Op, kVector>(from, to, n);
  const size_t again = kVector - n;
  step(from - again * sizeof(typename Op::In), to - again * sizeof(typename Op::Out), kVector);
}

// The elements of a vector, if its elements of the smaller type take this many bytes.
template <typename Op>
constexpr size_t InVector(size_t bytes) {
  return bytes / std::min(sizeof(typename Op::In), sizeof(typename Op::Out));
}

template <typename Op>
void RunBaseline(const void* src, void* dst, size_t n) {
  Loop<Op>(src, dst, n);
}
#if defined(__x86_64__)
template <typename Op>
DOVETAIL_TARGET_AVX2 void RunAvx2(const void* src, void* dst, size_t n) {
  LoopByVectors<Op, InVector<Op>(32)>(src, dst, n);
}
template <typename Op>
DOVETAIL_TARGET_AVX512 void RunAvx512(const void* src, void* dst, size_t n) {
  LoopByVectors<Op, InVector<Op>(64)>(src, dst, n);
}
#endif

}  // namespace internal_cast

// The loop over `Op` for a level. The levels below AVX2 share one. With kWide = false AVX-512 uses
// the one for AVX2, for steps that are bound by memory.
template <typename Op, bool kWide = true>
constexpr CastStep StepAt([[maybe_unused]] SimdLevel level) {
#if defined(__x86_64__)
  if constexpr (kWide) {
    if (IsAvx512(level)) return &internal_cast::RunAvx512<Op>;
  }
  if (level == SimdLevel::kAvx2 || IsAvx512(level)) return &internal_cast::RunAvx2<Op>;
#endif
  return &internal_cast::RunBaseline<Op>;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_STEP_H_
