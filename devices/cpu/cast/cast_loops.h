// The dimensions of a cast in normal form: in the order of the destination's memory
// (core/internal/loop_nest.h).
//
//   CastLoops loops(dst, src);
//   loops.ForEachTile(box, [&](int64_t dst_offset, int64_t src_offset, extents) { … });
//
// Strides and offsets count elements. Plain data.

#ifndef DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_
#define DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// A number for each dimension or loop. Holds as many as a tensor can have and allocates nothing,
// because the threads of a cast can't report that memory ran out.
class CastDims {
 public:
  using value_type = int64_t;
  using const_iterator = const int64_t*;

  CastDims() noexcept {}
  explicit CastDims(size_t size, int64_t value = 0) : size_(size) {
    std::fill_n(values_, size, value);
  }
  explicit CastDims(absl::Span<const int64_t> values) : size_(values.size()) {
    std::copy(values.begin(), values.end(), values_);
  }
  // Copies what is there.
  CastDims(const CastDims& other) : CastDims(absl::MakeConstSpan(other)) {}
  CastDims& operator=(const CastDims& other) {
    if (this == &other) return *this;
    size_ = other.size_;
    std::copy_n(other.values_, size_, values_);
    return *this;
  }

  size_t size() const { return size_; }
  int64_t* data() { return values_; }
  const int64_t* data() const { return values_; }
  int64_t* begin() { return values_; }
  int64_t* end() { return values_ + size_; }
  const int64_t* begin() const { return values_; }
  const int64_t* end() const { return values_ + size_; }
  int64_t& operator[](size_t i) { return values_[i]; }
  int64_t operator[](size_t i) const { return values_[i]; }
  int64_t& back() { return values_[size_ - 1]; }
  int64_t back() const { return values_[size_ - 1]; }
  void push_back(int64_t value) { values_[size_++] = value; }

  friend bool operator==(const CastDims& a, absl::Span<const int64_t> b) {
    return absl::MakeConstSpan(a) == b;
  }

 private:
  size_t size_ = 0;
  int64_t values_[internal_loop_nest::kMaxLoops];
};

// The row-major strides of a box without gaps.
CastDims DenseStrides(absl::Span<const int64_t> extents);

int64_t Product(absl::Span<const int64_t> extents);

class CastLoops {
 public:
  // The views have the same shape, with elements.
  CastLoops(const TensorView& dst, const TensorView& src);

  int rank() const { return static_cast<int>(counts.size()); }
  // Whether a box of `extents` is row-major without gaps.
  static bool IsDense(absl::Span<const int64_t> extents, absl::Span<const int64_t> strides);

  // The loop of a dimension.
  internal_loop_nest::Loop loop(int dim) const {
    return {counts[dim], dst_strides[dim], src_strides[dim]};
  }

  // Calls tile(dst offset, src offset, extents) for boxes of at most `box` that cover all elements.
  template <typename Tile>
  void ForEachTile(absl::Span<const int64_t> box, Tile tile) const {
    struct InnermostFirst {
      const CastLoops& loops;
      int DimOf(int i) const { return loops.rank() - 1 - i; }
      internal_loop_nest::Loop operator[](int i) const { return loops.loop(DimOf(i)); }
    } const loops{*this};
    CastDims index(rank(), 0), extents(rank());  // index: the innermost first
    internal_loop_nest::Loop::Offsets at{dst_start, src_start};
    do {
      for (int i = 0; i < rank(); ++i) {
        const int dim = loops.DimOf(i);
        extents[dim] = std::min(box[dim], counts[dim] - index[i]);
      }
      tile(at.dst, at.src, absl::MakeConstSpan(extents));
    } while (NextIteration(loops, rank(), index.data(), &at,
                           [&](int i) { return box[loops.DimOf(i)]; }));
  }

  CastDims counts, dst_strides, src_strides;  // outermost first
  int64_t dst_start = 0, src_start = 0;       // of the first iteration, from element 0 of the views
};

// The loops of a cast divided into parts that write no element in common.
//
//   const DividedCast parts(loops, grain, 8);               // at most 8 parts
//   for (int64_t i = 0; i < parts.count(); ++i) parts.Get(i).ForEachTile(box, …);
class DividedCast {
 public:
  // grain[dim] iterations of a dimension stay together. `loops` outlives the parts.
  DividedCast(const CastLoops& loops, absl::Span<const int64_t> grain, int64_t most);

  int64_t count() const { return divided_.count(); }  // at least 1
  CastLoops Get(int64_t part) const;

 private:
  const CastLoops& loops_;
  int dim_ = 0;  // the dimension that is divided
  internal_loop_nest::DividedLoop divided_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_
