// Views of a Layout: slices, single indices, new axes, permutations, reshapes, broadcasts. Each
// gives a new Layout and where its element 0 lies in the old one; no element moves.
//
//   LayoutView v;
//   absl::Status s = Index(layout, {IndexItem::At(1), IndexItem::Range({.step = -1})}, &v);
//
// Tensor's methods of the same names are what programs call. Indices follow Python's rules:
// negative ones count from the end, slices are clamped, single indices out of range are an error
// (OutOfRange). What else is wrong with the arguments is InvalidArgument.

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

// The indices that `slice` selects of a dimension of `size`: the first, and how many. The step is
// not 0.
struct SliceRange {
  int64_t start = 0;
  int64_t count = 0;
};
SliceRange ResolveSlice(const SliceSpec& slice, int64_t size);

// InvalidArgument for a step of 0.
absl::Status CheckStep(const SliceSpec& slice);

// One item per dimension; an ellipsis (at most one) or the end stands for all that are left.
absl::Status Index(const Layout& layout, absl::Span<const IndexItem> items, LayoutView* view);

// Dimension i of the view is dimension `order[i]`; each stands once, negative ones count from the
// end.
absl::Status Permute(const Layout& layout, absl::Span<const int64_t> order, LayoutView* view);

// The same elements in another shape, one of whose sizes may be -1 (worked out). FailedPrecondition
// when no strides can say it without a copy.
absl::Status Reshape(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view);

// Repeats dimensions of size 1, and adds leading ones, with strides of 0.
absl::Status BroadcastTo(const Layout& layout, absl::Span<const int64_t> shape, LayoutView* view);

// `dim` counted from the end when negative; OutOfRange when there is no such dimension.
absl::Status NormalizeDim(int64_t dim, int rank, int* normalized);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_VIEWS_VIEWS_H_
