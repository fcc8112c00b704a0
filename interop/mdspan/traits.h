// What the door needs to know of an mdspan library. Two are known: std::mdspan, here, if the
// standard library has it, and cuda::std::mdspan, in cuda.h. For another one, such as Kokkos', name
// the whole type, or specialise MdspanLibrary.

#ifndef DOVETAIL_INTEROP_MDSPAN_TRAITS_H_
#define DOVETAIL_INTEROP_MDSPAN_TRAITS_H_

#include <cstddef>
#include <type_traits>
#include <version>

#include "dovetail/core/config.h"

#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The mdspan template that belongs to a type of extents: type<T, Layout>, or type<T> with the
// library's default layout.
template <typename Extents>
struct MdspanLibrary;

#ifdef __cpp_lib_mdspan
template <typename Index, size_t... kExtents>
struct MdspanLibrary<std::extents<Index, kExtents...>> {
  template <typename T, typename... Layout>
  using type = std::mdspan<T, std::extents<Index, kExtents...>, Layout...>;
};
#endif

// An mdspan of any library: what all of them have in common.
template <typename M>
concept Mdspan = requires(const M& m) {
  typename M::extents_type;
  typename M::layout_type;
  typename M::accessor_type;
  typename M::mapping_type;
  m.data_handle();
  m.mapping();
  m.is_strided();
};

namespace internal_mdspan {

// Elements must be plain objects behind a plain pointer: not behind an accessor that converts them.
template <typename M>
inline constexpr bool kHasPlainElements =
    std::is_convertible_v<typename M::data_handle_type, typename M::element_type*> &&
    std::is_constructible_v<typename M::data_handle_type, typename M::element_type*> &&
    std::is_same_v<typename M::reference, typename M::element_type&>;

// Whether a mapping is made of extents and strides, as that of layout_stride. Others, as those of
// layout_right and layout_left, are made of extents alone.
template <typename Mapping>
concept TakesStrides = requires(const Mapping& m) { Mapping(m.extents(), m.strides()); };

}  // namespace internal_mdspan
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_TRAITS_H_
