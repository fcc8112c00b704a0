// How elements lie in bytes. Elements of whole bytes follow each other; those of a sub-byte type
// share bytes, lowest bits first (Packing::kPacked), or have a byte each (Packing::kPadded).
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
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class Packing : uint8_t { kPacked, kPadded };

// Bits from one element to the next.
constexpr int64_t StepBits(DType dtype, Packing packing) {
  const int64_t bits = dtype.element_bits();
  if (bits % 8 == 0) [[likely]]
    return bits;
  return packing == Packing::kPadded ? dtype.itemsize() * 8 : bits;
}

// Where element `index` starts: the byte, rounded down, and the bit in it. Wraps around only for
// what no checked layout reaches.
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

// The bytes that `count` elements take without gaps: the bits of packed ones together, rounded up.
// The largest int64 where there are more (a broadcast may have that many).
constexpr int64_t BytesWithoutGaps(int64_t count, DType dtype, Packing packing) {
  const __int128 bytes = (static_cast<__int128>(count) * StepBits(dtype, packing) + 7) / 8;
  return bytes > INT64_MAX ? INT64_MAX : static_cast<int64_t>(bytes);
}

// The bytes that a layout reaches, from that of element 0: [begin, end), begin <= 0 <= end.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

namespace internal_packing {
bool BytesOfFarExtent(Extent extent, DType dtype, Packing packing, ByteRange* range);
}  // namespace internal_packing

// False when an offset overflows. `extent` is that of a layout with elements.
inline bool BytesOfExtent(const Extent& extent, DType dtype, Packing packing, ByteRange* range) {
  // The bits of one element are fewer than 2^24, so that those of so many fit by far.
  constexpr uint64_t kFar = uint64_t{1} << 36;
  if (static_cast<uint64_t>(extent.highest) - static_cast<uint64_t>(extent.lowest) >= kFar)
      [[unlikely]] {
    ByteRange far;  // so that nobody else's need lie in memory
    const bool fits = internal_packing::BytesOfFarExtent(extent, dtype, packing, &far);
    *range = far;
    return fits;
  }
  const int64_t bits = StepBits(dtype, packing);
  *range = {extent.lowest * bits >> 3, (extent.highest * bits + bits + 7) >> 3};  // rounds down
  return true;
}

// The same of a layout; nothing where there are no elements. InvalidArgument when an offset
// overflows.
absl::Status BytesReached(const Layout& layout, DType dtype, Packing packing, ByteRange* range);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_PACKING_H_
