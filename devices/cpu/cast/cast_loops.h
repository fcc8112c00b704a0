// The dimensions of a cast, in the order in which the destination lies in memory.
//
//   CastLoops loops(dst, src);                 // sorted, flipped, merged
//   loops.ForEachTile(box, [&](int64_t dst_offset, int64_t src_offset, extents) { … });
//
// Dimensions of size 1 are dropped, those that step backwards in both are turned round, and
// neighbours that step evenly are merged. Strides and offsets count elements. Plain data.

#ifndef DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_
#define DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using CastDims = absl::InlinedVector<int64_t, Layout::kInlineRank>;

// Strides of a box without gaps, in row-major order.
CastDims DenseStrides(absl::Span<const int64_t> extents);

int64_t Product(absl::Span<const int64_t> extents);

class CastLoops {
 public:
  // Of two views of one shape, with elements.
  CastLoops(const TensorView& dst, const TensorView& src);

  int rank() const { return static_cast<int>(counts.size()); }
  // Whether a box of `extents` has no gaps in row-major order.
  static bool IsDense(absl::Span<const int64_t> extents, absl::Span<const int64_t> strides);

  // Calls tile(dst offset, src offset, extents) for boxes of at most `box` that cover everything.
  template <typename Tile>
  void ForEachTile(absl::Span<const int64_t> box, Tile tile) const {
    CastDims at(rank(), 0), extents(rank());
    int64_t dst = dst_start, src = src_start;
    while (true) {
      for (int i = 0; i < rank(); ++i) extents[i] = std::min(box[i], counts[i] - at[i]);
      tile(dst, src, absl::MakeConstSpan(extents));
      int i = rank() - 1;
      for (; i >= 0; --i) {
        at[i] += extents[i];
        dst += extents[i] * dst_strides[i];
        src += extents[i] * src_strides[i];
        if (at[i] < counts[i]) break;
        dst -= counts[i] * dst_strides[i];
        src -= counts[i] * src_strides[i];
        at[i] = 0;
      }
      if (i < 0) return;
    }
  }

  CastDims counts, dst_strides, src_strides;  // outermost first
  int64_t dst_start = 0, src_start = 0;       // of the first element, from the views' element 0
};

// Divides loops into parts that write no element in common.
//
//   const CastParts parts(loops, grain, 8);                 // at most 8
//   for (int64_t i = 0; i < parts.count(); ++i) parts.Get(i).ForEachTile(box, …);
class CastParts {
 public:
  // As many turns as `grain` says of each loop stay together. `loops` outlives the parts.
  CastParts(const CastLoops& loops, absl::Span<const int64_t> grain, int64_t most);

  int64_t count() const { return count_; }  // at least 1
  CastLoops Get(int64_t part) const;

 private:
  const CastLoops& loops_;
  int loop_ = 0;       // which is divided
  int64_t turns_ = 0;  // of it in each part but the last
  int64_t count_ = 1;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_LOOPS_H_
