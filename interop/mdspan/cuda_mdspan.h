// The door to cuda::std::mdspan, of CCCL (C++17 and later). mdspan.h documents it.
//
//   auto m = AsMdspan<float, cuda::std::dextents<int64_t, 2>>(tensor);                      // row-major
//   auto s = AsMdspan<float, cuda::std::dextents<int64_t, 2>, cuda::std::layout_stride>(tensor);

#ifndef DOVETAIL_INTEROP_MDSPAN_CUDA_MDSPAN_H_
#define DOVETAIL_INTEROP_MDSPAN_CUDA_MDSPAN_H_

#include <cuda/std/mdspan>
#include <cstddef>

#include "dovetail/core/config.h"
#include "dovetail/interop/mdspan/mdspan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Index, size_t... kExtents>
struct internal_mdspan::LibraryOf<cuda::std::extents<Index, kExtents...>> {
  using layout_right = cuda::std::layout_right;
  template <typename T, typename Layout>
  using mdspan = cuda::std::mdspan<T, cuda::std::extents<Index, kExtents...>, Layout>;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_CUDA_MDSPAN_H_
