// Reads and writes one element of a tensor of any type. Printing, item() and filling use it.
//
//   ElementValue v = ReadElement(data, /*bit_offset=*/4, kInt4);          // int64_t
//   absl::Status s = WriteElement(data, 0, kBFloat16, ElementValue(0.5));
//
// An element lies `bit_offset` bits from `data`, a host address of any alignment. The offset is a
// multiple of 8 for whole-byte types. A sub-byte element may start at any bit and may span two
// bytes, lowest bits first. Types have one lane: the lanes of a vector type are read and written
// one by one, with `bits` bits each. The caller ensures that the bytes exist. Any thread.

#ifndef DOVETAIL_CORE_INTERNAL_ELEMENT_H_
#define DOVETAIL_CORE_INTERNAL_ELEMENT_H_

#include <complex>
#include <cstdint>
#include <variant>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using ElementValue = std::variant<bool, int64_t, uint64_t, double, std::complex<double>>;

// The element as the widest type of its kind: bool (any byte but 0 is true), int64_t for signed
// integers, uint64_t for unsigned integers and handles, double for every floating-point format,
// complex<double> for complex types. Exact. NaN for a kind that is in no list.
ElementValue ReadElement(const void* data, int64_t bit_offset, DType dtype);

// Writes the element and leaves all other bits unchanged. A bool takes the truth of any value. A
// floating-point type takes integers, rounded once to nearest. A type without fractions, imaginary
// parts or NaN takes only values that have none. If the value does not fit, nothing is written and
// InvalidArgument names the value and what the type holds. Floating-point numbers that are too
// large for a floating-point type follow internal/float_format.h.
absl::Status WriteElement(void* data, int64_t bit_offset, DType dtype, const ElementValue& value);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_ELEMENT_H_
