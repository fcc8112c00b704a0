// Format strings of Python's buffer protocol and DType: one table, both directions.
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

// What a buffer without a format (NULL) holds.
inline constexpr std::string_view kDefaultFormat = "B";

// The type of one element. A code such as `l`, whose width depends on the platform, is taken at
// either of its widths, as `itemsize` says. `c` is uint8: a byte, whatever it stands for.
// InvalidArgument, with what to do, for what no tensor holds (objects, text, structs, long double),
// for the other byte order, and where code and itemsize disagree.
absl::StatusOr<DType> DTypeFromFormat(std::string_view format, int64_t itemsize);

// A native format that NumPy and memoryview read; the string is static. InvalidArgument, with what
// to do, for types that the protocol has no code for (bfloat16, the narrow floats, lanes, …).
absl::StatusOr<const char*> FormatFromDType(DType dtype);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_FORMAT_H_
