// Tensors as mdspans, and mdspans as tensors, without a copy. Include std_mdspan.h for std::mdspan
// or cuda_mdspan.h for cuda::std::mdspan; this file serves both, and every other mdspan that has
// their interface.
//
//   using Matrix = std::mdspan<float, std::dextents<int64_t, 2>>;
//   absl::StatusOr<Matrix> m = AsMdspan<Matrix>(tensor);
//   absl::StatusOr<Tensor> t = ViewOf(span);                      // borrows
//   absl::StatusOr<Tensor> u = ViewOf(span, std::move(owner));    // keeps the owner, or a deleter
//
// An mdspan borrows: it is valid while a tensor of its memory lives. Its element type must be const
// for read-only memory. Threads: as Tensor.

#ifndef DOVETAIL_INTEROP_MDSPAN_MDSPAN_H_
#define DOVETAIL_INTEROP_MDSPAN_MDSPAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/mdspan/mapping.h"
#include "dovetail/interop/owner.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T>
concept AnyMdspan = requires(const T& span) {
  typename T::extents_type;
  typename T::mapping_type;
  typename T::accessor_type;
  span.data_handle();
  span.mapping();
};

namespace internal_mdspan {

[[gnu::cold]] inline absl::Status MisfitError(Misfit misfit, size_t rank, const Tensor& tensor) {
  const std::string target = absl::StrCat("an mdspan of rank ", rank);
  constexpr char kCopy[] = "Use layout_stride, or pass Copied(tensor)";
  switch (misfit) {
    case Misfit::kRank:
      return internal_interop::Refusal(tensor, target, "its rank differs",
                                       "Name its rank, or Reshape it");
    case Misfit::kSize:
      return internal_interop::Refusal(tensor, target, "a size differs from a static extent",
                                       "Use std::dynamic_extent for that dimension");
    case Misfit::kIndex:
      return internal_interop::Refusal(tensor, target, "a size or offset exceeds the index type",
                                       "Use int64_t for the index type");
    case Misfit::kOrder:
      return internal_interop::Refusal(tensor, target, "its strides are not those of the layout",
                                       kCopy);
    default:
      return internal_interop::Refusal(
          tensor, target, "layout_stride has no negative strides, and one index for an element",
          "Pass Copied(tensor)");
  }
}

// Calls use(shape, strides), in elements, if the mapping has strides.
template <typename Mdspan, typename Use>
absl::StatusOr<Tensor> WithStrides(const Mdspan& span, Use use) {
  constexpr size_t kRank = Mdspan::extents_type::rank();
  if (!span.mapping().is_strided()) {
    return internal_interop::RefusalOf("an mdspan", "its layout has no strides",
                                       "Copy it into one that has");
  }
  std::array<int64_t, kRank> shape{}, strides{};
  if constexpr (kRank > 0) {
    for (size_t i = 0; i < kRank; ++i) {
      if (!std::in_range<int64_t>(span.extents().extent(i)) ||
          !std::in_range<int64_t>(span.mapping().stride(i))) {
        return internal_interop::RefusalOf("an mdspan", "a size exceeds 63 bits", "Take a part");
      }
      shape[i] = static_cast<int64_t>(span.extents().extent(i));
      strides[i] = static_cast<int64_t>(span.mapping().stride(i));
    }
  }
  return use(absl::MakeConstSpan(shape.data(), kRank), absl::MakeConstSpan(strides.data(), kRank));
}

}  // namespace internal_mdspan

// FailedPrecondition: the errors of Tensor::data<T>() (element type, memory that the CPU cannot
// reach, read-only, alignment), another rank or static extent, and strides that the layout does not
// have. layout_stride takes positive strides in any order.
template <AnyMdspan Mdspan>
absl::StatusOr<Mdspan> AsMdspan(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  const auto data = tensor.data<typename Mdspan::element_type>();
  if (!data.ok()) return data.status();
  std::optional<Mdspan> span;
  using Mapping = typename Mdspan::mapping_type;
  const internal_mdspan::Misfit misfit = internal_mdspan::WithMapping<Mapping>(
      tensor.layout(), [&](const Mapping& mapping) { span.emplace(*data, mapping); });
  if (misfit != internal_mdspan::Misfit::kNone) [[unlikely]] {
    return internal_mdspan::MisfitError(misfit, Mdspan::rank(), tensor);
  }
  return *span;
}

// Borrows: the tensor and all that share its memory must not outlive the memory. `device` says
// where that is. Read-only if the element type is const. InvalidArgument for a layout without
// strides and for sizes beyond 63 bits.
template <AnyMdspan Mdspan>
absl::StatusOr<Tensor> ViewOf(const Mdspan& span, Device device = Device::Cpu()) {
  return internal_mdspan::WithStrides(span, [&](auto shape, auto strides) {
    return Tensor::Wrap(span.data_handle(), shape, strides, device, [] {});
  });
}

// The same memory, kept alive by `owner`: a deleter, called once with the address of element 0 or
// without an argument, or an object such as a std::shared_ptr. On an error `owner` is dropped.
template <AnyMdspan Mdspan, typename Owner>
  requires(!std::is_same_v<Owner, Device>)
absl::StatusOr<Tensor> ViewOf(const Mdspan& span, Owner owner, Device device = Device::Cpu()) {
  using Element = typename Mdspan::element_type;
  return internal_mdspan::WithStrides(span, [&](auto shape, auto strides) {
    return Tensor::Wrap(span.data_handle(), shape, strides, device,
                        internal_interop::DeleterOf<Element>(std::move(owner)));
  });
}

namespace internal_mdspan {

// The mdspan of the library whose extents these are; std_mdspan.h and cuda_mdspan.h specialise it.
template <typename Extents>
struct LibraryOf;

}  // namespace internal_mdspan

// The same by element type, extents and layout: AsMdspan<float, std::dextents<int64_t, 2>>(tensor).
template <typename T, typename Extents,
          typename Layout = typename internal_mdspan::LibraryOf<Extents>::layout_right>
auto AsMdspan(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  using Library = internal_mdspan::LibraryOf<Extents>;
  return AsMdspan<typename Library::template mdspan<T, Layout>>(tensor);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_MDSPAN_H_
