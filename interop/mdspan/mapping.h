// Whether a tensor's layout is one that an mdspan's mapping can have, and that mapping.
//
//   Mapping mapping = MakeMapping<Mapping>(layout, &misfit);
//
// Written against the interface that std::mdspan, cuda::std::mdspan and Kokkos' share: a mapping is
// made of extents alone (layout_right, layout_left, …), or of extents and strides (layout_stride).

#ifndef DOVETAIL_INTEROP_MDSPAN_MAPPING_H_
#define DOVETAIL_INTEROP_MDSPAN_MAPPING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_mdspan {

enum class Misfit : uint8_t {
  kNone,
  kRank,
  kSize,     // differs from a static extent
  kIndex,    // a size, stride or offset exceeds the index type
  kOrder,    // not the order of a mapping without strides
  kStrides,  // negative, or several indices for one element
};

// Layouts of up to this rank are compared without allocating.
inline constexpr size_t kMaxRank = Layout::kMaxRank;

template <typename Mapping>
inline constexpr bool kIsMadeOfExtents =
    std::is_constructible_v<Mapping, const typename Mapping::extents_type&>;

// The strides that a layout_stride mapping gets, in an array of its library: positive ones for
// dimensions of at most one element too, whose strides mean nothing to a Layout.
template <typename Mapping>
auto PositiveStrides(const Layout& layout) {
  using Index = typename Mapping::extents_type::index_type;
  std::remove_cvref_t<decltype(std::declval<const Mapping&>().strides())> strides{};
  int64_t dense = 1;
  for (size_t i = Mapping::extents_type::rank(); i-- > 0;) {
    const int64_t size = layout.shape(static_cast<int>(i));
    const int64_t stride = layout.stride(static_cast<int>(i));
    const bool counts = size > 1 && layout.num_elements() > 0;
    strides[i] = static_cast<Index>(counts                          ? stride
                                    : layout.num_elements() == 0 ? dense
                                                                  : 1);
    dense *= std::max<int64_t>(size, 1);
  }
  return strides;
}

// The precondition of layout_stride: some order of the dimensions in which each stride is at least
// what the dimensions before it span.
inline bool IsUnique(const Layout& layout) {
  std::array<std::pair<int64_t, int64_t>, kMaxRank> dims;  // stride, size
  size_t count = 0;
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape(i) > 1) dims[count++] = {layout.stride(i), layout.shape(i)};
  }
  std::sort(dims.begin(), dims.begin() + count);
  int64_t spanned = 1;
  for (size_t i = 0; i < count; ++i) {
    const auto [stride, size] = dims[i];
    if (stride < spanned) return false;
    spanned = stride * size;  // within the checked offsets of a Layout, plus one stride
  }
  return true;
}

// Whether sizes and strides fit `Index`, and the offset past the last element.
template <typename Index>
bool FitsIndex(const Layout& layout) {
  for (int i = 0; i < layout.rank(); ++i) {
    if (!std::in_range<Index>(layout.shape(i))) return false;
    if (layout.shape(i) > 1 && !std::in_range<Index>(layout.stride(i))) return false;
  }
  return layout.num_elements() == 0 ||
         (layout.extent().highest < INT64_MAX &&
          std::in_range<Index>(layout.extent().highest + 1));
}

template <typename Extents>
Extents MakeExtents(const Layout& layout) {
  std::array<typename Extents::index_type, Extents::rank()> sizes{};
  for (size_t i = 0; i < Extents::rank(); ++i) {
    sizes[i] = static_cast<typename Extents::index_type>(layout.shape(static_cast<int>(i)));
  }
  if constexpr (Extents::rank() == 0) {
    return Extents();
  } else {
    return [&]<size_t... kDims>(std::index_sequence<kDims...>) {
      return Extents(sizes[kDims]...);
    }(std::make_index_sequence<Extents::rank()>());
  }
}

// kNone if an mdspan with `Extents` can describe the layout, apart from its order.
template <typename Extents>
Misfit CheckExtents(const Layout& layout) {
  if (static_cast<size_t>(layout.rank()) != Extents::rank()) return Misfit::kRank;
  for (size_t i = 0; i < Extents::rank(); ++i) {
    const auto fixed = Extents::static_extent(i);
    if (fixed != static_cast<decltype(fixed)>(-1) &&
        std::cmp_not_equal(fixed, layout.shape(static_cast<int>(i)))) {
      return Misfit::kSize;
    }
  }
  return FitsIndex<typename Extents::index_type>(layout) ? Misfit::kNone : Misfit::kIndex;
}

// Calls use(mapping) if the mapping exists; otherwise says why not.
template <typename Mapping, typename Use>
Misfit WithMapping(const Layout& layout, Use use) {
  using Extents = typename Mapping::extents_type;
  if (const Misfit misfit = CheckExtents<Extents>(layout); misfit != Misfit::kNone) return misfit;
  const Extents extents = internal_mdspan::MakeExtents<Extents>(layout);
  if constexpr (kIsMadeOfExtents<Mapping>) {
    const Mapping mapping(extents);
    if constexpr (Extents::rank() > 0) {
      for (size_t i = 0; i < Extents::rank() && layout.num_elements() > 0; ++i) {
        const auto dim = static_cast<int>(i);
        if (layout.shape(dim) > 1 && std::cmp_not_equal(mapping.stride(i), layout.stride(dim))) {
          return Misfit::kOrder;
        }
      }
    }
    use(mapping);
  } else {
    if (layout.num_elements() > 0 && !IsUnique(layout)) return Misfit::kStrides;
    use(Mapping(extents, internal_mdspan::PositiveStrides<Mapping>(layout)));
  }
  return Misfit::kNone;
}

}  // namespace internal_mdspan
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_MAPPING_H_
