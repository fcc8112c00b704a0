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
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/divided_loop.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using CastDims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

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
