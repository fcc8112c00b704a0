// Converts between DType and the type strings of __array_interface__ and __cuda_array_interface__.
// One table serves both directions.
//
//   absl::StatusOr<DType> t = DTypeFromTypestr("<f4");          // kFloat32
//   absl::StatusOr<std::string> s = TypestrFromDType(kBool);    // "|b1"
//
// A type string is a byte order (< little, > big, | none), a kind and a size in bytes. Source:
// numpy.org/doc/stable/reference/arrays.interface.html. Any thread.

#ifndef DOVETAIL_INTEROP_ARRAY_INTERFACE_TYPESTR_H_
#define DOVETAIL_INTEROP_ARRAY_INTERFACE_TYPESTR_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// InvalidArgument, with a remedy, for types that no tensor holds (objects, text, dates, structs,
// long double), for the other byte order, and for malformed type strings.
absl::StatusOr<DType> DTypeFromTypestr(std::string_view typestr);

// InvalidArgument for types that have no type string (bfloat16, the narrow floats, lanes, …).
absl::StatusOr<std::string> TypestrFromDType(DType dtype);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARRAY_INTERFACE_TYPESTR_H_
