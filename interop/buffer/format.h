// Converts between DType and the format strings of Python's buffer protocol. One table serves both
// directions.
//
//   absl::StatusOr<DType> t = DTypeFromFormat("<i", /*itemsize=*/4);      // kInt32
//   absl::StatusOr<const char*> f = FormatFromDType(kComplex64);          // "Zf"
//
// The codes are those of Python's struct module, with the complex ones of PEP 3118 and Python 3.14
// (Zf, Zd; F, D). Sources: docs.python.org/3/library/struct.html, PEP 3118. Any thread.

#ifndef DOVETAIL_INTEROP_BUFFER_FORMAT_H_
#define DOVETAIL_INTEROP_BUFFER_FORMAT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The format of a buffer whose format is NULL.
inline constexpr std::string_view kDefaultFormat = "B";

// The type of one element. A code such as `l` has a native and a standard width; `itemsize` decides
// which. `c`, a character, is uint8. InvalidArgument, with a remedy, for types that no tensor holds
// (objects, text, structs, long double), for the other byte order, and if code and itemsize
// disagree.
absl::StatusOr<DType> DTypeFromFormat(std::string_view format, int64_t itemsize);

// A native format that NumPy and memoryview can read. The string is static. InvalidArgument, with a
// remedy, for types without a code (bfloat16, the narrow floats, lanes, …).
absl::StatusOr<const char*> FormatFromDType(DType dtype);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_FORMAT_H_
