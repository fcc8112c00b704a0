// Fills a Layout where it stands, without a StatusOr to move it out of: for importers and views.
//
//   Layout layout;
//   Extent extent;
//   if (!TryAssign(&layout, rank, shape, strides, &extent)) return WhyNot(rank, shape, strides);
//
// All functions check what Layout promises: no negative size, no overflow of the number of elements
// or of an offset. `strides` may be nullptr for row-major order; `shape` and `strides` have `rank`
// entries and must not lie in the layout itself. Where a function fails the layout has rank 0.

#ifndef DOVETAIL_CORE_INTERNAL_LAYOUT_BUILDER_H_
#define DOVETAIL_CORE_INTERNAL_LAYOUT_BUILDER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/freestanding/extent.h"
#include "dovetail/core/freestanding/walk.h"
#include "dovetail/core/internal/layout_rep.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_layout {

class LayoutAccess {
 public:
  static LayoutRep& Rep(Layout* layout) { return layout->rep_; }
  static const LayoutRep& Rep(const Layout& layout) { return layout.rep_; }
};

// Assigns, and tells in `extent` which offsets the strides reach. False if they make no layout.
inline bool TryAssign(Layout* layout, int64_t rank, const int64_t* shape, const int64_t* strides,
                      Extent* extent) {
  LayoutRep& rep = LayoutAccess::Rep(layout);
  const bool has_rank = rank >= 0 && rank <= Layout::kMaxRank;
  int64_t* const dims = rep.Begin(has_rank ? static_cast<int>(rank) : 0);
  if (!has_rank) [[unlikely]]
    return false;
  Extent reached;  // its address is not taken, so it can stay in registers
  int64_t count = WalkPlain<true>(rank, shape, strides, dims, dims + rank, &reached);
  if (count < 0) [[unlikely]] {
    Extent other;
    count = Walk(rank, shape, strides, dims, dims + rank, &other);
    reached = other;
    if (count < 0) return rep.Abandon(static_cast<int>(rank)), false;
  }
  *extent = reached;
  rep.Finish(static_cast<int>(rank), count);
  return true;
}

// TryAssign for what WalkPlain takes. False for all others, on which TryAssign decides. `layout`
// must have at most kInlineRank dimensions.
[[gnu::always_inline]] inline bool TryAssignPlain(Layout* layout, int64_t rank,
                                                  const int64_t* shape, const int64_t* strides,
                                                  Extent* extent) {
  if (rank < 0) return false;
  LayoutRep& rep = LayoutAccess::Rep(layout);
  Extent reached;
  int64_t* const dims = rep.BeginInline();
  const int64_t count = WalkPlain<true>(rank, shape, strides, dims, dims + rank, &reached);
  if (count < 0) [[unlikely]]
    return false;
  *extent = reached;
  rep.Finish(static_cast<int>(rank), count);
  return true;
}

// TryAssign with a reason: InvalidArgument, as Layout::Strided says.
absl::Status Assign(Layout* layout, int64_t rank, const int64_t* shape, const int64_t* strides);

// The checks alone: the number of elements, or -1 if they make no layout.
inline int64_t Measure(int64_t rank, const int64_t* shape, const int64_t* strides, Extent* extent) {
  if (rank < 0 || rank > Layout::kMaxRank) return -1;
  const int64_t count = WalkPlain<false>(rank, shape, strides, nullptr, nullptr, extent);
  if (count >= 0) [[likely]]
    return count;
  return Walk(rank, shape, strides, nullptr, nullptr, extent);
}

// Keeps the indices start, start + step, ... of dimension `dim`, `count` of them, which must all
// exist. Returns the offset of the new element 0 from the old one, in elements. A part of a layout
// needs no check against overflow.
int64_t Narrow(Layout* layout, int dim, int64_t start, int64_t count, int64_t step);

// Writes rank() sizes, then rank() strides.
inline void CopyDims(const Layout& layout, int64_t* dims) {
  const LayoutRep& rep = LayoutAccess::Rep(layout);
  CopyWords(dims, rep.dims(), 2 * rep.rank());
}

}  // namespace internal_layout
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_LAYOUT_BUILDER_H_
