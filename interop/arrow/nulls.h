// Tells whether elements of an Arrow array are null.
//
//   absl::Status s = CheckNoNulls(array, first, count, Device::Cpu());
//
// Source: arrow.apache.org/docs/format/Columnar.html, "Validity bitmaps".

#ifndef DOVETAIL_INTEROP_ARROW_NULLS_H_
#define DOVETAIL_INTEROP_ARROW_NULLS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The elements `first` to `first + count`, counted from the start of the buffers, must lie in the
// array. Reads the validity bits where the array's own count does not tell. InvalidArgument, with a
// remedy, if one of the elements is null, if the host can't read bits that it needs, and for an
// impossible count.
absl::Status CheckNoNulls(const ArrowArray& array, int64_t first, int64_t count, Device device);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_NULLS_H_
