#include "dovetail/core/packing.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

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
