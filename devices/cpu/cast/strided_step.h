// One step of a cast over elements with gaps, in the order in which two loops reach them.
//
//   StridedStep step = StridedStepOf<Halve>();      // an Op, as in step.h
//   step(src, dst, {.rows = 2, .src_row = 400, .dst_row = 8,
//                   .count = 2, .src_step = 8, .dst_step = 4});
//
// Each element by itself: for what is small, and for what lies in gaps on both sides, where
// bringing the elements together takes longer than casting them. As step.h otherwise.

#ifndef DOVETAIL_DEVICES_CPU_CAST_STRIDED_STEP_H_
#define DOVETAIL_DEVICES_CPU_CAST_STRIDED_STEP_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Two loops, one in the other; steps in bytes.
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

// Several elements are read before the first is written: what is read may depend on what was
// written before, for all that the compiler knows.
template <typename Op>
void RunStrided(const void* src, void* dst, const StridedLoops& loops) {
  using Out = typename Op::Out;
  const auto write = [](char* to, Out value) { std::memcpy(to, &value, sizeof value); };
  const int64_t in = loops.src_step, out = loops.dst_step;
  // From so many bytes on, one load alone goes along src: a processor guesses the steps of each
  // load by itself, and not such long ones as those of every fourth.
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
