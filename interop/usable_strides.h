// Strides for libraries that lack negative strides.
//
//   if (StepsBack(tensor.layout())) return …;                  // an element is reached backwards
//   const UsableStrideList strides = UsableStrides(tensor.layout());
//
// The stride of a dimension of size 0 or 1, and any stride of a tensor without elements, leads to
// no element. It may have any value. Nothing fails; any thread.

#ifndef DOVETAIL_INTEROP_USABLE_STRIDES_H_
#define DOVETAIL_INTEROP_USABLE_STRIDES_H_

#include <cstdint>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

using UsableStrideList = absl::InlinedVector<int64_t, Layout::kInlineRank>;

// Whether the stride of a dimension leads to an element.
inline bool IsStepped(const Layout& layout, int dim) {
  return layout.shape(dim) > 1 && layout.num_elements() != 0;
}

// Whether a negative stride leads to an element.
inline bool StepsBack(const Layout& layout) {
  for (int dim = 0; dim < layout.rank(); ++dim) {
    if (layout.stride(dim) < 0 && IsStepped(layout, dim)) return true;
  }
  return false;
}

// The strides of a layout that does not step back. One that leads to no element becomes 1 if it is
// negative or above `most`.
inline UsableStrideList UsableStrides(const Layout& layout,
                                      int64_t most = std::numeric_limits<int64_t>::max()) {
  UsableStrideList strides(layout.strides().begin(), layout.strides().end());
  for (int dim = 0; dim < layout.rank(); ++dim) {
    int64_t& stride = strides[static_cast<size_t>(dim)];
    if ((stride < 0 || stride > most) && !IsStepped(layout, dim)) stride = 1;
  }
  return strides;
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_USABLE_STRIDES_H_
