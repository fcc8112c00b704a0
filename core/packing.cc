#include "dovetail/core/packing.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

bool internal_packing::BytesOfFarExtent(Extent extent, DType dtype, Packing packing,
                                        ByteRange* range) {
  const int64_t bits = StepBits(dtype, packing);
  const bool whole = bits % 8 == 0;
  const int64_t step = whole ? bits / 8 : bits;
  int64_t begin, end, size;
  if (__builtin_mul_overflow(extent.lowest, step, &begin) ||
      __builtin_mul_overflow(extent.highest, step, &end) ||
      __builtin_add_overflow(end, whole ? step : step + 7, &end)) {
    return false;
  }
  *range = whole ? ByteRange{begin, end} : ByteRange{begin >> 3, end >> 3};
  return !__builtin_sub_overflow(range->end, range->begin, &size);
}

absl::Status BytesReached(const Layout& layout, DType dtype, Packing packing, ByteRange* range) {
  *range = {};
  if (layout.num_elements() == 0 || BytesOfExtent(layout.extent(), dtype, packing, range)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("The layout reaches bytes beyond a 64-bit offset: ", layout.ToString(), " of ",
                   dtype.ToString(), "."));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
