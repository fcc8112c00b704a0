// The door to mdspans (export.h, import.h) for cuda::std::mdspan of NVIDIA's CCCL, in host code.
//
//   #include "dovetail/interop/mdspan/cuda.h"
//
//   using Matrix = cuda::std::dextents<int, 2>;
//   auto m = AsMdspan<float, Matrix>(tensor, Device::Cuda(0));     // to hand to a kernel

#ifndef DOVETAIL_INTEROP_MDSPAN_CUDA_H_
#define DOVETAIL_INTEROP_MDSPAN_CUDA_H_

#include <cuda/std/mdspan>

#include "dovetail/core/config.h"
#include "dovetail/interop/mdspan/export.h"  // IWYU pragma: export
#include "dovetail/interop/mdspan/import.h"  // IWYU pragma: export
#include "dovetail/interop/mdspan/traits.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Index, size_t... kExtents>
struct MdspanLibrary<cuda::std::extents<Index, kExtents...>> {
  template <typename T, typename... Layout>
  using type = cuda::std::mdspan<T, cuda::std::extents<Index, kExtents...>, Layout...>;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_CUDA_H_
