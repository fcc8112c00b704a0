// An mdspan of any library as a tensor.
//
//   std::mdspan m(pixels, 480, 640);
//   absl::StatusOr<Tensor> a = ViewOf(m);                                // borrows
//   absl::StatusOr<Tensor> b = FromMdspan(m, [](float* p) { delete[] p; });
//   absl::StatusOr<Tensor> c = FromMdspan(m, shared);                    // keeps a shared_ptr
//   absl::StatusOr<Tensor> d = FromMdspan(m, cuda_free, Device::Cuda(0));
//
// No element is copied; layout and strides are kept. const elements are read-only. InvalidArgument
// if the layout has no strides, or an offset does not fit an int64; nothing is taken then. Owners
// are released on whichever thread drops the last reference.

#ifndef DOVETAIL_INTEROP_MDSPAN_IMPORT_H_
#define DOVETAIL_INTEROP_MDSPAN_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/mdspan/fit.h"
#include "dovetail/interop/mdspan/traits.h"
#include "dovetail/interop/owner.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_mdspan {

// The offset of the element whose indices are all 0, which a program's own layout may place
// anywhere.
template <typename Mapping, size_t... kDims>
int64_t OriginOf(const Mapping& mapping, std::index_sequence<kDims...>) {
  return static_cast<int64_t>(mapping(static_cast<typename Mapping::index_type>(kDims * 0)...));
}

// A tensor over the memory of `m` that keeps nothing alive.
template <typename M>
absl::StatusOr<Tensor> Borrow(const M& m, Device device) {
  using T = typename M::element_type;
  static_assert(kHasPlainElements<M>, "The accessor must read elements through a plain pointer.");
  constexpr size_t kRank = M::rank();
  if (!m.is_strided()) {
    return internal_interop::RefusalOf("an mdspan whose layout has no strides",
                                       "a tensor's elements are spaced evenly",
                                       "Copy it into an mdspan of layout_right");
  }
  Numbers<kRank> shape{}, strides{};
  bool is_empty = false;
  if constexpr (kRank > 0) {
    for (size_t i = 0; i < kRank; ++i) {
      shape[i] = static_cast<int64_t>(m.extent(i));
      strides[i] = static_cast<int64_t>(m.stride(i));
      is_empty = is_empty || shape[i] == 0;
    }
  }
  T* data = m.data_handle();
  if (!is_empty) {
    data += internal_mdspan::OriginOf(m.mapping(), std::make_index_sequence<kRank>());
  }
  const absl::Span<const int64_t> steps = strides;
  return internal_tensor::WrapUnowned(internal_tensor::WithoutConst(data), dtype_of<T>, shape,
                                      &steps, device, internal_tensor::AccessOf<T>());
}

}  // namespace internal_mdspan

// Borrows the memory. The tensor and all that share its memory must not outlive it.
template <Mdspan M>
absl::StatusOr<Tensor> ViewOf(const M& mdspan, Device device = Device::Cpu()) {
  return internal_mdspan::Borrow(mdspan, device);
}

// The same memory, owned by the tensor. `owner` is a deleter, called once with the address of
// element 0 or without an argument, or an object such as a std::shared_ptr that is kept
// (interop/owner.h).
template <Mdspan M, typename Owner>
absl::StatusOr<Tensor> FromMdspan(const M& mdspan, Owner&& owner, Device device = Device::Cpu()) {
  return internal_interop::KeptBy<typename M::element_type>(
      std::forward<Owner>(owner), internal_mdspan::Borrow(mdspan, device));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_IMPORT_H_
