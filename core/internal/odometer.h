// Goes through the iterations of a nest of loops, the first loop fastest, and keeps the offsets of
// its operands.
//
//   Odometer at(loops, rank);                    // loop_nest.h
//   do { … at.dst … at.src … } while (at.Next());

#ifndef DOVETAIL_CORE_INTERNAL_ODOMETER_H_
#define DOVETAIL_CORE_INTERNAL_ODOMETER_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_loop_nest {

// Moves `index` and `offsets` to the next iteration. False, and back at the start, after the last.
// The loop i moves on by iterations_of(i) at a time, which is 1 for an odometer, and more for one
// that goes from box to box. loops[i] is a loop or makes one; `offsets` has its Offsets' Move().
template <typename Loops, typename Offsets, typename IterationsOf>
[[gnu::always_inline]] inline bool NextIteration(const Loops& loops, int rank, int64_t* index,
                                                 Offsets* offsets, IterationsOf iterations_of) {
  for (int i = 0; i < rank; ++i) {
    const auto& loop = loops[i];
    const int64_t iterations = iterations_of(i);
    if (index[i] + iterations < loop.count) {
      index[i] += iterations;
      offsets->Move(loop, iterations);
      return true;
    }
    offsets->Move(loop, -index[i]);
    index[i] = 0;
  }
  return false;
}

template <typename Loops, typename Offsets>
[[gnu::always_inline]] inline bool NextIteration(const Loops& loops, int rank, int64_t* index,
                                                 Offsets* offsets) {
  return NextIteration(loops, rank, index, offsets, [](int) { return int64_t{1}; });
}

// The offsets of LoopType are its members: dst and src of a Loop, offset of an ElementLoop.
template <typename LoopType>
class BasicOdometer : public LoopType::Offsets {
 public:
  // `loops` outlives the odometer and holds kMaxLoops at most, each with iterations. A nest of no
  // loops has one iteration.
  BasicOdometer(const LoopType* loops, int rank) : loops_(loops), rank_(rank) {
    std::fill(index_, index_ + rank, 0);
  }

  int64_t index(int loop) const { return index_[loop]; }

  // False, and back at the start, after the last iteration.
  bool Next() { return NextIteration(loops_, rank_, index_, this); }

 private:
  const LoopType* loops_;
  int rank_;
  int64_t index_[kMaxLoops];
};

using Odometer = BasicOdometer<Loop>;
using ElementOdometer = BasicOdometer<ElementLoop>;

}  // namespace internal_loop_nest
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_ODOMETER_H_
