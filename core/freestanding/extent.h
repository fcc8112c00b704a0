// Which elements and bytes a shape and strides reach. C++17, and no library but <cstdint>.
//
//   Extent extent;                       // of a layout, by walk.h
//   ByteRange range;
//   if (!BytesOfExtent(extent, step_bits, &range)) return kTooFar;

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

// Ranks up to this one take fast paths.
constexpr int kPlainRank = 6;

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
