// A tensor as an mdspan, of the standard library or of another one.
//
//   #include <mdspan>
//
//   using Matrix = std::dextents<int64_t, 2>;
//   auto a = AsMdspan<float, Matrix>(tensor);                            // layout_right: row-major
//   auto b = AsMdspan<const float, Matrix, std::layout_stride>(tensor);  // const takes read-only
//   auto c = AsMdspan<double, std::extents<int, 3, 3>, std::layout_left>(tensor);
//   auto d = AsMdspan<std::mdspan<float, Matrix>>(tensor);               // the whole type
//   if (a.ok()) (*a)[0, 1] = 2;
//
// An mdspan borrows: it is valid while a tensor of this memory lives. cuda.h has the same for
// cuda::std::mdspan. FailedPrecondition: the errors of Tensor::data<T>() (element type, device,
// read-only, alignment), and a rank, static extent or layout that the tensor does not have (fit.h
// says which strides layout_stride allows). Threads: as Tensor.

#ifndef DOVETAIL_INTEROP_MDSPAN_EXPORT_H_
#define DOVETAIL_INTEROP_MDSPAN_EXPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/mdspan/fit.h"
#include "dovetail/interop/mdspan/traits.h"
#include "dovetail/interop/offer.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_mdspan {

// "extents (3, dynamic)"
template <typename Extents>
[[gnu::cold]] std::string ExtentsToString() {
  std::string text = "extents (";
  for (size_t i = 0; i < Extents::rank(); ++i) {
    const size_t extent = Extents::static_extent(i);
    absl::StrAppend(&text, i == 0 ? "" : ", ");
    absl::StrAppend(&text, extent == static_cast<size_t>(-1) ? "dynamic" : absl::StrCat(extent));
  }
  return text + ")";
}

template <typename Extents, size_t kRank>
Extents MakeExtents(const Numbers<kRank>& shape) {
  return [&]<size_t... kDims>(std::index_sequence<kDims...>) {
    return Extents(static_cast<typename Extents::index_type>(shape[kDims])...);
  }(std::make_index_sequence<kRank>());
}

// The static extents; any size for those that are dynamic.
template <typename Extents>
constexpr Numbers<Extents::rank()> WantedShape() {
  Numbers<Extents::rank()> shape{};
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t extent = Extents::static_extent(i);
    shape[i] = extent == static_cast<size_t>(-1) ? internal_interop::kAnySize
                                                 : static_cast<int64_t>(extent);
  }
  return shape;
}

// The mapping of a tensor of these facts, if there is one; `misfit` says why not.
template <typename Mapping, size_t kRank>
[[gnu::always_inline]] inline std::optional<Mapping> MakeMapping(const Layout& layout,
                                                                 Misfit* misfit) {
  namespace in = internal_interop;
  using Extents = typename Mapping::extents_type;
  using Index = typename Mapping::index_type;
  // From here on the rank is a constant.
  *misfit = {Want::kRank};
  if (layout.rank() != static_cast<int>(kRank)) return std::nullopt;
  Numbers<kRank> shape{}, strides{};
  for (size_t i = 0; i < kRank; ++i) {
    shape[i] = layout.shape(static_cast<int>(i));
    strides[i] = layout.stride(static_cast<int>(i));
  }
  constexpr Numbers<kRank> kShape = internal_mdspan::WantedShape<Extents>();
  constexpr bool kHasStatic = Extents::rank_dynamic() != kRank;
  const in::Requirements want = {.rank = static_cast<int32_t>(kRank),
                                 .shape = kHasStatic ? kShape.data() : nullptr,
                                 .max_index = in::MaxIndexOf<Index>()};
  if constexpr (TakesStrides<Mapping>) {
    *misfit = internal_mdspan::FitStrides(want, shape, layout.num_elements(), &strides);
    if (!misfit->fits()) return std::nullopt;
    std::remove_cvref_t<decltype(std::declval<const Mapping&>().strides())> narrowed{};
    if constexpr (kRank > 0) {
      for (size_t i = 0; i < kRank; ++i) narrowed[i] = static_cast<Index>(strides[i]);
    }
    return Mapping(internal_mdspan::MakeExtents<Extents>(shape), narrowed);
  } else {
    *misfit = in::FindMisfit(internal_mdspan::OfferOf(shape, strides), want);
    if (!misfit->fits()) return std::nullopt;
    const Mapping mapping(internal_mdspan::MakeExtents<Extents>(shape));
    if constexpr (kRank > 0) {
      if (layout.num_elements() == 0) return mapping;
      Numbers<kRank> wanted;
      for (size_t i = 0; i < kRank; ++i) wanted[i] = static_cast<int64_t>(mapping.stride(i));
      *misfit = in::FindMisfit(internal_mdspan::OfferOf(shape, strides),
                               {.rank = static_cast<int32_t>(kRank), .strides = wanted.data()});
      if (!misfit->fits()) return std::nullopt;
    }
    return mapping;
  }
}

template <typename M>
absl::StatusOr<M> MakeMdspan(const Tensor& tensor, typename M::element_type* data) {
  static_assert(kHasPlainElements<M> && std::is_default_constructible_v<typename M::accessor_type>,
                "The accessor must read elements through a plain pointer.");
  Misfit misfit;
  const auto mapping =
      internal_mdspan::MakeMapping<typename M::mapping_type, M::rank()>(tensor.layout(), &misfit);
  if constexpr (requires { M::accessor_type::byte_alignment; }) {
    if (misfit.fits()) {
      misfit = internal_interop::FindMisfit(internal_interop::OfferOf(tensor),
                                            {.alignment = M::accessor_type::byte_alignment});
    }
  }
  if (!misfit.fits()) [[unlikely]] {
    return internal_mdspan::MisfitError(
        misfit, internal_mdspan::ExtentsToString<typename M::extents_type>(), tensor);
  }
  return M(typename M::data_handle_type(data), *mapping, typename M::accessor_type());
}

}  // namespace internal_mdspan

// M is an mdspan type. Memory that the host can access.
template <Mdspan M>
absl::StatusOr<M> AsMdspan(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  const auto data = tensor.data<typename M::element_type>();
  if (!data.ok()) return data.status();
  return internal_mdspan::MakeMdspan<M>(tensor, *data);
}

// Memory on `device`, such as a GPU, whose pointer is for code on that device.
template <Mdspan M>
absl::StatusOr<M> AsMdspan(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND, Device device) {
  using T = typename M::element_type;
  absl::Status status = internal_mdspan::CheckOn(tensor, device, dtype_of<T>, alignof(T),
                                                 /*write=*/!std::is_const_v<T>);
  if (!status.ok()) return status;
  return internal_mdspan::MakeMdspan<M>(tensor, static_cast<T*>(tensor.raw_data()));
}

// The same by element type, extents and layout. Without a layout: the library's layout_right.
template <typename T, typename Extents, typename... Layout>
absl::StatusOr<typename MdspanLibrary<Extents>::template type<T, Layout...>> AsMdspan(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return AsMdspan<typename MdspanLibrary<Extents>::template type<T, Layout...>>(tensor);
}
template <typename T, typename Extents, typename... Layout>
absl::StatusOr<typename MdspanLibrary<Extents>::template type<T, Layout...>> AsMdspan(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND, Device device) {
  return AsMdspan<typename MdspanLibrary<Extents>::template type<T, Layout...>>(tensor, device);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_EXPORT_H_
