// One step of a cast over strided elements: two nested loops.
//
//   StridedStep step = StridedStepOf<Halve>();      // an Op, as in step.h
//   step(src, dst, {.rows = 2, .src_row = 400, .dst_row = 8,
//                   .count = 2, .src_step = 8, .dst_step = 4});
//
// Elements are cast one by one. For small casts, and for elements with gaps on both sides, for
// which gathering takes longer than casting. Otherwise as step.h.

#ifndef DOVETAIL_DEVICES_CPU_CAST_STRIDED_STEP_H_
#define DOVETAIL_DEVICES_CPU_CAST_STRIDED_STEP_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Two nested loops; steps in bytes.
struct StridedLoops {
  int64_t rows, src_row, dst_row;
  int64_t count, src_step, dst_step;
};

using StridedStep = void (*)(const void* src, void* dst, const StridedLoops& loops);

namespace internal_cast {

template <typename Op>
inline typename Op::Out CastAt(const char* from) {
  typename Op::In in;
  std::memcpy(&in, from, sizeof in);
  return Op::Do(in);
}

// Reads several elements before it writes the first, because the compiler can't exclude that a
// write changes what is read next.
template <typename Op>
void RunStrided(const void* src, void* dst, const StridedLoops& loops) {
  using Out = typename Op::Out;
  const auto write = [](char* to, Out value) { std::memcpy(to, &value, sizeof value); };
  const int64_t in = loops.src_step, out = loops.dst_step;
  // From this step in bytes on, a single load instruction walks src: the hardware prefetcher learns
  // the stride of each instruction, and does not follow the fourfold stride of four of them.
  constexpr int64_t kFar = 1024;
  const bool is_far = std::abs(in) >= kFar;
  for (int64_t row = 0; row < loops.rows; ++row) {
    const char* from = static_cast<const char*>(src) + row * loops.src_row;
    char* to = static_cast<char*>(dst) + row * loops.dst_row;
    int64_t left = loops.count;
    for (; !is_far && left >= 4; left -= 4, from += 4 * in, to += 4 * out) {
      const Out a = CastAt<Op>(from), b = CastAt<Op>(from + in);
      const Out c = CastAt<Op>(from + 2 * in), d = CastAt<Op>(from + 3 * in);
      write(to, a);
      write(to + out, b);
      write(to + 2 * out, c);
      write(to + 3 * out, d);
    }
    for (; left > 0; --left, from += in, to += out) write(to, CastAt<Op>(from));
  }
}

}  // namespace internal_cast

template <typename Op>
constexpr StridedStep StridedStepOf() {
  return &internal_cast::RunStrided<Op>;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_STRIDED_STEP_H_
