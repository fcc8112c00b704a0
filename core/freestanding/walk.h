// Checks a shape and strides, and finds what they reach: THE walk over dimensions, for layouts
// (core/internal/layout_builder.h) and for parsers of other libraries' tensors
// (interop/dlpack/parse.h). C++17, and no library but <cstdint>.
//
//   Extent extent;
//   int64_t count = WalkPlain<false>(rank, shape, strides, nullptr, nullptr, &extent);
//   if (count < 0) count = Walk(rank, shape, strides, nullptr, nullptr, &extent);
//   if (count < 0) return kInvalid;
//
// Checked are what Layout promises: no negative size, no overflow of the number of elements or of
// an offset. `strides` count elements; nullptr stands for row-major order.

#ifndef DOVETAIL_CORE_FREESTANDING_WALK_H_
#define DOVETAIL_CORE_FREESTANDING_WALK_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"
#include "dovetail/core/freestanding/extent.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_layout {

// Any sizes and strides of at most 64 dimensions. Writes them to `kept_shape` and `kept_strides`
// unless these are nullptr. Returns the number of elements, or -1 if they make no layout.
[[gnu::noinline]] inline int64_t Walk(int64_t rank, const int64_t* shape, const int64_t* strides,
                                      int64_t* kept_shape, int64_t* kept_strides, Extent* extent) {
  int64_t product = 1;  // of the nonzero sizes; must fit even if there are no elements
  int64_t lowest = 0, highest = 0;
  bool bad = false, empty = false, too_far = false;
  for (int64_t i = rank - 1; i >= 0; --i) {
    const int64_t size = shape[i];
    // A size of 0 counts as 1 in row-major strides, as in other array libraries.
    const int64_t stride = strides != nullptr ? strides[i] : product;
    if (kept_shape != nullptr) {
      kept_shape[i] = size;
      kept_strides[i] = stride;
    }
    if (size <= 1) {
      bad |= size < 0;
      empty |= size == 0;
      continue;
    }
    int64_t span = 0;
    bad |= __builtin_mul_overflow(product, size, &product);
    too_far |= __builtin_mul_overflow(size - 1, stride, &span);
    int64_t& end = stride >= 0 ? highest : lowest;
    too_far |= __builtin_add_overflow(end, span, &end);
  }
  *extent = empty ? Extent{} : Extent{lowest, highest};
  if (bad || (too_far && !empty)) return -1;
  return empty ? 0 : product;
}

// Fast path of Walk for nearly all tensors: at most kPlainRank dimensions, sizes of at least 1,
// strides of at least 0, and none of these numbers large. Returns -1 for all others; then ask Walk.
// Writes the sizes and the strides (if kKeep) in any case.
template <bool kKeep>
[[gnu::always_inline]] inline int64_t WalkPlain(int64_t rank, const int64_t* shape,
                                                const int64_t* strides, int64_t* kept_shape,
                                                int64_t* kept_strides, Extent* extent) {
  // If every number is below the limit, no product or sum overflowed on the way. One comparison of
  // all of them OR-ed together therefore suffices at the end.
  constexpr uint64_t kLimit = uint64_t{1} << 30;
  static_assert(kLimit * kLimit * kPlainRank < uint64_t{1} << 63, "");
  if (rank > kPlainRank) return -1;
  uint64_t product = 1, highest = 0, seen = 0;
  for (int64_t i = rank - 1; i >= 0; --i) {
    const auto size = static_cast<uint64_t>(shape[i]);
    const uint64_t stride = strides != nullptr ? static_cast<uint64_t>(strides[i]) : product;
    if (kKeep) {
      kept_shape[i] = static_cast<int64_t>(size);
      kept_strides[i] = static_cast<int64_t>(stride);
    }
    product *= size;
    highest += (size - 1) * stride;
    seen |= (size - 1) | stride | product;
  }
  if (__builtin_expect(seen >= kLimit, 0)) return -1;
  *extent = {0, static_cast<int64_t>(highest)};
  return static_cast<int64_t>(product);
}

}  // namespace internal_layout
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FREESTANDING_WALK_H_
