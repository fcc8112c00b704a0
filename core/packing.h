// Packing: how elements lie in bytes. Whole-byte elements follow each other. Sub-byte elements
// share bytes, lowest bits first (Packing::kPacked), or each start at a byte of their own
// (Packing::kPadded).
//
//   StepBits(kFloat4E2M1Fn, Packing::kPacked)         // 4
//   BytesReached(layout, kFloat4E2M1Fn, Packing::kPacked)
//
// Source: dlpack.h 1.3, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED.

#ifndef DOVETAIL_CORE_PACKING_H_
#define DOVETAIL_CORE_PACKING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/freestanding/extent.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class Packing : uint8_t { kPacked, kPadded };

// The packing of a tensor whose maker asks for `wanted`: only elements that do not fill whole bytes
// can be padded. Every Tensor has this packing.
constexpr Packing PackingOf(DType dtype, Packing wanted) {
  return wanted == Packing::kPadded && dtype.is_sub_byte() ? Packing::kPadded : Packing::kPacked;
}

// Bits from one element to the next.
constexpr int64_t StepBits(DType dtype, Packing packing) {
  return internal_layout::StepBits(dtype.element_bits(), packing == Packing::kPadded);
}

// Where element `index` starts: the byte, rounded down, and the bit in that byte. Wraps around only
// for offsets that no checked layout reaches.
struct ElementPlace {
  int64_t byte;
  int bit;
};
constexpr ElementPlace PlaceOf(int64_t index, DType dtype, Packing packing) {
  const int64_t step = StepBits(dtype, packing);
  if (step % 8 == 0) return {WrappingMultiply(index, step / 8), 0};
  const int64_t bits = WrappingMultiply(index, step);
  return {bits >> 3, static_cast<int>(bits & 7)};
}

// The bytes that `count` elements take without gaps. The bits of packed elements are added up, then
// rounded up to bytes. INT64_MAX if there are more bytes, as a broadcast may have.
constexpr int64_t BytesWithoutGaps(int64_t count, DType dtype, Packing packing) {
  __extension__ typedef __int128 Wide;
  const Wide bytes = (static_cast<Wide>(count) * StepBits(dtype, packing) + 7) / 8;
  return bytes > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bytes);
}

// The bytes that an extent reaches. False if an offset overflows. `extent` is that of a layout with
// elements.
inline bool BytesOfExtent(const Extent& extent, DType dtype, Packing packing, ByteRange* range) {
  return internal_layout::BytesOfExtent(extent, StepBits(dtype, packing), range);
}

// The bytes that a layout reaches. Empty if the layout has no elements. InvalidArgument if an
// offset overflows.
absl::Status BytesReached(const Layout& layout, DType dtype, Packing packing, ByteRange* range);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_PACKING_H_
