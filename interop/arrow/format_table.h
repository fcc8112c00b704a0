// Arrow's format strings and DType: one table, both directions.
//
//   absl::StatusOr<DType> t = DTypeFromArrow("f");            // kFloat32
//   absl::StatusOr<const char*> f = ArrowFromDType(kInt64);   // "l"
//
// Only numbers of whole bytes are in it: Arrow's booleans are single bits, and its dates and times
// are numbers with a meaning that tensors would lose. Source:
// arrow.apache.org/docs/format/CDataInterface.html, "Data type description". Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_
#define DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// InvalidArgument, with what to do, for what no tensor holds.
absl::StatusOr<DType> DTypeFromArrow(std::string_view format);

// The string is static. InvalidArgument, with what to do, for types that Arrow has no numbers for.
absl::StatusOr<const char*> ArrowFromDType(DType dtype);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_
