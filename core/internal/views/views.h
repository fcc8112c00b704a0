// Views of a Layout: slices, single indices, new axes, permutations, reshapes, broadcasts. Each
// gives a new Layout and the position of its element 0 in the old one. No element moves.
//
//   LayoutView v;
//   absl::Status s = Index(layout, {IndexItem::At(1), IndexItem::Range({.step = -1})}, &v);
//
// Programs call Tensor's methods of the same names. Indices follow Python's rules: negative indices
// count from the end, slices are clamped, and a single index out of range is OutOfRange. All other
// bad arguments are InvalidArgument unless a function says otherwise.

#ifndef DOVETAIL_CORE_INTERNAL_VIEWS_VIEWS_H_
#define DOVETAIL_CORE_INTERNAL_VIEWS_VIEWS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/index.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct LayoutView {
  Layout layout;
  int64_t offset = 0;  // elements from the old element 0 to the new one
};

// The indices that `slice` selects from a dimension of `size`: the first one and their number. The
// step must not be 0.
struct SliceRange {
  int64_t start = 0;
  int64_t count = 0;
};
SliceRange ResolveSlice(const SliceSpec& slice, int64_t size);

// InvalidArgument for a step of 0.
absl::Status CheckStep(const SliceSpec& slice);

// Applies one item to each dimension. An ellipsis (at most one), or the end of the items, stands
// for all remaining dimensions.
absl::Status Index(const Layout& layout, absl::Span<const IndexItem> items, LayoutView* view);

// Dimension i of the view is dimension `order[i]` of the layout. Each dimension occurs once;
// negative numbers count from the end.
absl::Status Permute(const Layout& layout, absl::Span<const int64_t> order, LayoutView* view);

// The same elements in another shape. One size may be -1; it is computed. FailedPrecondition if no
// strides describe the result without a copy.
absl::Status Reshape(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view);

// Repeats dimensions of size 1 and adds leading dimensions. Both get strides of 0.
absl::Status BroadcastTo(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view);

// Converts a negative `dim`, which counts from the end. OutOfRange if there is no such dimension.
absl::Status NormalizeDim(int64_t dim, int rank, int* normalized);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_VIEWS_VIEWS_H_
