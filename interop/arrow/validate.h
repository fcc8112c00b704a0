// Performs every check of an Arrow import. Owns nothing and changes nothing.
//
//   CheckedArrow checked;
//   absl::Status s = ValidateArrow(*schema, *array, Device::Cpu(), &checked);
//
// Arrays of numbers without nulls pass, and lists of them whose sizes are fixed, to any depth: each
// list is a dimension. A "fixed shape tensor" (fixed_shape.h) has several. All errors are
// InvalidArgument and name a remedy. Source: arrow.apache.org/docs/format/CDataInterface.html.

#ifndef DOVETAIL_INTEROP_ARROW_VALIDATE_H_
#define DOVETAIL_INTEROP_ARROW_VALIDATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CheckedArrow {
  DType dtype;
  Layout layout;
  // The first element and the number of bytes. If the device is not addressable, `data` is the
  // opaque handle and byte_offset leads from it to the first element.
  void* data = nullptr;
  size_t nbytes = 0;
  int64_t byte_offset = 0;
};

// `checked` is undefined after an error. If the producer did not count the nulls, this counts them;
// if the host can't access the validity bits, that is an error.
absl::Status ValidateArrow(const ArrowSchema& schema, const ArrowArray& array, Device device,
                           CheckedArrow* checked);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_VALIDATE_H_
