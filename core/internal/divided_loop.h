// A loop divided into parts of consecutive iterations.
//
//   const DividedLoop rows = Divide({10, 4, 400}, /*most_parts=*/3);
//   rows.count()               // 3 parts, of 4, 4 and 2 iterations
//   rows.Parts()               // {3, 16, 1600}: the loop from part to part
//   rows.Part(2)               // {2, 4, 400}: the loop within the last part, which begins at
//   rows.BeginOf(2)            // iteration 8
//
// Divide() makes parts of nearly equal size, DivideBySize() parts of a given size, and
// DivideAligned() parts that begin at multiples of it. Plain values.

#ifndef DOVETAIL_CORE_INTERNAL_DIVIDED_LOOP_H_
#define DOVETAIL_CORE_INTERNAL_DIVIDED_LOOP_H_

#include <algorithm>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_loop_nest {

// a / b, rounded up, of positive numbers.
constexpr int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

class DividedLoop {
 public:
  // All of `loop` in one part.
  explicit DividedLoop(const Loop& loop) : DividedLoop(loop, loop.count, 1, 0) {}

  const Loop& loop() const { return loop_; }
  int64_t count() const { return count_; }
  // The iterations of each part but the first and the last.
  int64_t size() const { return size_; }

  int64_t BeginOf(int64_t part) const { return part * size_ - LeadOf(part); }
  int64_t SizeOf(int64_t part) const {
    const int64_t end = part + 1 < count_ ? (part + 1) * size_ - lead_ : loop_.count;
    return end - BeginOf(part);
  }
  Loop Part(int64_t part) const { return {SizeOf(part), loop_.dst_step, loop_.src_step}; }

  // The loop from part to part. Of an aligned one, the first part is taken for as long as the
  // others; a later part begins LeadOf(part) iterations before the offset that this loop leads to.
  Loop Parts() const { return {count_, size_ * loop_.dst_step, size_ * loop_.src_step}; }
  int64_t LeadOf(int64_t part) const { return part > 0 ? lead_ : 0; }

 private:
  friend DividedLoop DivideBySize(const Loop& loop, int64_t size);
  friend DividedLoop DivideAligned(const Loop& loop, int64_t size, int64_t lead);

  DividedLoop(const Loop& loop, int64_t size, int64_t count, int64_t lead)
      : loop_(loop), size_(size), count_(count), lead_(lead) {}

  Loop loop_;
  int64_t size_;
  int64_t count_;
  int64_t lead_;
};

// Parts of `size` iterations; the last one has those that remain.
inline DividedLoop DivideBySize(const Loop& loop, int64_t size) {
  return {loop, size, CeilDivide(loop.count, size), 0};
}

// At most `most_parts` parts of nearly equal size, a multiple of `grain` iterations except for the
// last part.
inline DividedLoop Divide(const Loop& loop, int64_t most_parts, int64_t grain = 1) {
  const int64_t grains = CeilDivide(loop.count, grain);
  return DivideBySize(loop, CeilDivide(grains, most_parts) * grain);
}

// As few parts of nearly equal size as have at most `most` iterations each.
inline DividedLoop DivideEvenly(const Loop& loop, int64_t most) {
  return Divide(loop, CeilDivide(loop.count, most));
}

// Parts of `size` iterations, except that the first has `lead` fewer and that the last one also
// takes the iterations that remain: none is shorter than `size` but the first, or the only one.
inline DividedLoop DivideAligned(const Loop& loop, int64_t size, int64_t lead = 0) {
  return {loop, size, std::max<int64_t>((loop.count + lead) / size, 1), lead};
}

}  // namespace internal_loop_nest
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_DIVIDED_LOOP_H_
