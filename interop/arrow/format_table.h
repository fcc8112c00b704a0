// Converts between Arrow's format strings and DType. One table serves both directions.
//
//   absl::StatusOr<DType> t = DTypeFromArrow("f");            // kFloat32
//   absl::StatusOr<const char*> f = ArrowFromDType(kInt64);   // "l"
//   FixedListSize("+w:3")                                     // 3
//
// The table holds only numbers of whole bytes. Arrow's booleans are single bits, and a tensor would
// lose the unit of a date or time. Source: arrow.apache.org/docs/format/CDataInterface.html, "Data
// type description". Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_
#define DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// InvalidArgument, with a remedy, for formats that no tensor can hold.
absl::StatusOr<DType> DTypeFromArrow(std::string_view format);

// The string is static. InvalidArgument, with a remedy, for types that Arrow lacks.
absl::StatusOr<const char*> ArrowFromDType(DType dtype);

// The number of elements of each list, of 0 and more; nullopt if these are no lists of a fixed
// size.
std::optional<int64_t> FixedListSize(std::string_view format);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_FORMAT_TABLE_H_
