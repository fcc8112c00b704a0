// A nest of loops over strided memory, and its normal form.
//
//   Loop loops[] = {{3, -4, 4}, {1, 0, 0}, {5, -12, 12}};   // innermost first; steps in bytes
//   Loop::Offsets start;                                    // of the first iteration
//   int rank = Normalize<NormalForm{}>(loops, 3, &start);
//   // rank == 1, loops[0] == {15, 4, -4}, start is {.dst = -56, .src = 56}
//
// odometer.h goes through the iterations of a nest, divided_loop.h divides its work. Loops are
// plain values in an array that belongs to the caller, on the stack or in a vector; nothing here
// allocates. Steps and offsets count whatever the caller counts: bytes, bits or elements.

#ifndef DOVETAIL_CORE_INTERNAL_LOOP_NEST_H_
#define DOVETAIL_CORE_INTERNAL_LOOP_NEST_H_

#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_loop_nest {

// The most loops of a nest: the dimensions of a tensor, two loops within an element of an odd
// size, and two more where loops are divided.
inline constexpr int kMaxLoops = Layout::kMaxRank + 4;

// A loop over two operands. Each of its `count` iterations moves on by a step in each of them.
struct Loop {
  int64_t count;
  int64_t dst_step;
  int64_t src_step;
  friend bool operator==(const Loop&, const Loop&) = default;

  // Where an iteration lies, from element 0 of the operands.
  struct Offsets {
    int64_t dst = 0;
    int64_t src = 0;

    void Move(const Loop& loop, int64_t iterations) {
      dst += iterations * loop.dst_step;
      src += iterations * loop.src_step;
    }
  };

  // Whether the first iteration of `outer` after this loop's last continues it in both operands:
  // the two loops are then one of count * outer.count iterations. (A product that overflows is
  // compared modulo 2^64, as memory is addressed.)
  bool IsContinuedBy(const Loop& outer) const {
    return outer.dst_step == WrappingMultiply(count, dst_step) &&
           outer.src_step == WrappingMultiply(count, src_step);
  }
};

// A loop over one operand.
struct ElementLoop {
  int64_t count;
  int64_t step;

  struct Offsets {
    int64_t offset = 0;

    void Move(const ElementLoop& loop, int64_t iterations) { offset += iterations * loop.step; }
  };
};

// What Normalize makes of loops, besides dropping those of one iteration and merging neighbours.
struct NormalForm {
  // kAscendingInDst: no dst_step is negative, and the loop with the smallest is innermost. kAsGiven
  // keeps order and directions.
  enum class Order { kAscendingInDst, kAsGiven } order = Order::kAscendingInDst;
  // Which of two loops with the same dst_step is inside: that which was given as the inner one, or
  // that with the shorter src_step (and of two such, the one given as the inner one).
  enum class Ties { kAsGiven, kShorterInSrc } ties = Ties::kAsGiven;
  // A loop with a dst_step of 0 writes the same elements in each iteration. kKeep keeps it;
  // kLastIteration drops it and starts at its last iteration, whose values stay.
  enum class ZeroStep { kKeep, kLastIteration } zero_step = ZeroStep::kKeep;
};

// Brings loops[0] … loops[rank - 1], the innermost first, into the form and returns how many are
// left, in the same array. Adds to *start the offsets by which the first iteration moves. Each loop
// has at least one iteration; the steps of a loop of one iteration may be anything. Offsets within
// the nest must not overflow.
template <NormalForm kForm>
int Normalize(Loop* loops, int rank, Loop::Offsets* start) {
  constexpr bool kSorts = kForm.order == NormalForm::Order::kAscendingInDst;
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    Loop& loop = loops[i];
    if (loop.count == 1) continue;
    if constexpr (kForm.zero_step == NormalForm::ZeroStep::kLastIteration) {
      if (loop.dst_step == 0) {
        start->Move(loop, loop.count - 1);
        continue;
      }
    }
    if (kSorts && loop.dst_step < 0) {
      start->Move(loop, loop.count - 1);
      loop.dst_step = -loop.dst_step;
      loop.src_step = -loop.src_step;
    }
    if (kept != i) loops[kept] = loop;
    ++kept;
  }
  if constexpr (kSorts) {
    const auto goes_inside = [](const Loop& a, const Loop& b) {
      if (kForm.ties == NormalForm::Ties::kShorterInSrc && a.dst_step == b.dst_step) {
        return std::abs(a.src_step) < std::abs(b.src_step);
      }
      return a.dst_step < b.dst_step;
    };
    for (int i = 1; i < kept; ++i) {
      if (!goes_inside(loops[i], loops[i - 1])) continue;
      const Loop loop = loops[i];
      int at = i;
      do {
        loops[at] = loops[at - 1];
      } while (--at > 0 && goes_inside(loop, loops[at - 1]));
      loops[at] = loop;
    }
  }
  if (kept < 2) return kept;
  int last = 0;
  for (int i = 1; i < kept; ++i) {
    if (loops[last].IsContinuedBy(loops[i])) {
      loops[last].count *= loops[i].count;
    } else if (++last != i) {
      loops[last] = loops[i];
    }
  }
  return last + 1;
}

}  // namespace internal_loop_nest
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_LOOP_NEST_H_
