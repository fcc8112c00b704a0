// The door to std::mdspan (C++23). mdspan.h documents it.
//
//   auto m = AsMdspan<float, std::dextents<int64_t, 2>>(tensor);                      // row-major
//   auto s = AsMdspan<float, std::dextents<int64_t, 2>, std::layout_stride>(tensor);

#ifndef DOVETAIL_INTEROP_MDSPAN_STD_MDSPAN_H_
#define DOVETAIL_INTEROP_MDSPAN_STD_MDSPAN_H_

#include <mdspan>
#include <cstddef>

#include "dovetail/core/config.h"
#include "dovetail/interop/mdspan/mdspan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Index, size_t... kExtents>
struct internal_mdspan::LibraryOf<std::extents<Index, kExtents...>> {
  using layout_right = std::layout_right;
  template <typename T, typename Layout>
  using mdspan = std::mdspan<T, std::extents<Index, kExtents...>, Layout>;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_STD_MDSPAN_H_
