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

#ifndef DOVETAIL_CORE_FREESTANDING_EXTENT_H_
#define DOVETAIL_CORE_FREESTANDING_EXTENT_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The offsets of the first and last element that strides reach, in elements from element 0.
// lowest <= 0 <= highest; both are 0 when there are no elements or one.
struct Extent {
  int64_t lowest = 0;
  int64_t highest = 0;
  friend constexpr bool operator==(const Extent& a, const Extent& b) {
    return a.lowest == b.lowest && a.highest == b.highest;
  }
  friend constexpr bool operator!=(const Extent& a, const Extent& b) { return !(a == b); }
};

// The bytes that a layout reaches, counted from the byte of element 0: [begin, end), begin <= 0 <=
// end.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
  constexpr int64_t size() const { return end - begin; }
};

namespace internal_layout {

// Ranks up to this one take the fast path.
constexpr int kPlainRank = 6;

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

// Bits from one element of `bits` bits to the next. Padded elements start at a byte each.
constexpr int64_t StepBits(int64_t bits, bool padded) {
  return bits % 8 == 0 || !padded ? bits : (bits + 7) / 8 * 8;
}

// BytesOfExtent for what its fast path does not take.
[[gnu::noinline, gnu::cold]] inline bool BytesOfFarExtent(Extent extent, int64_t step_bits,
                                                          ByteRange* range) {
  const bool whole = step_bits % 8 == 0;
  const int64_t step = whole ? step_bits / 8 : step_bits;
  int64_t begin = 0, end = 0, size = 0;
  if (__builtin_mul_overflow(extent.lowest, step, &begin) ||
      __builtin_mul_overflow(extent.highest, step, &end) ||
      __builtin_add_overflow(end, whole ? step : step + 7, &end)) {
    return false;
  }
  *range = whole ? ByteRange{begin, end} : ByteRange{begin >> 3, end >> 3};
  return !__builtin_sub_overflow(range->end, range->begin, &size);
}

// The bytes that an extent reaches, of elements that begin every `step_bits` bits (below 2^24) and
// fill them. False if an offset overflows. `extent` is that of a layout with elements.
[[gnu::always_inline]] inline bool BytesOfExtent(const Extent& extent, int64_t step_bits,
                                                 ByteRange* range) {
  // The bits of an extent below kFar fit an int64.
  constexpr uint64_t kFar = uint64_t{1} << 36;
  if (__builtin_expect(
          static_cast<uint64_t>(extent.highest) - static_cast<uint64_t>(extent.lowest) >= kFar,
          0)) {
    ByteRange far;  // a local: *range can then stay in registers
    const bool fits = BytesOfFarExtent(extent, step_bits, &far);
    *range = far;
    return fits;
  }
  *range = {extent.lowest * step_bits >> 3,  // rounds down
            (extent.highest * step_bits + step_bits + 7) >> 3};
  return true;
}

}  // namespace internal_layout
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FREESTANDING_EXTENT_H_
