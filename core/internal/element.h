// One element of a tensor as a value, whatever its type: what printing, item() and filling rest on.
//
//   ElementValue v = ReadElement(data, /*bit_offset=*/4, kInt4);          // int64_t
//   absl::Status s = WriteElement(data, 0, kBFloat16, ElementValue(0.5));
//
// An element lies `bit_offset` bits from `data`, a host address of any alignment; whole-byte types
// take a multiple of 8, sub-byte ones may start anywhere and may lie across two bytes, lowest bits
// first. Types of one lane only: the lanes of a vector type are read and written one by one, each
// with `bits` bits. The caller sees to it that the bytes are there. Any thread.

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

// The element as the widest type of its kind: bool (any byte but 0 is true), int64_t for signed and
// uint64_t for unsigned integers and handles, double for every floating-point format,
// complex<double> for complex ones. Exact.
ElementValue ReadElement(const void* data, int64_t bit_offset, DType dtype);

// Writes the element and leaves all other bits as they are. Anything goes into a bool as its truth;
// integers go into floating-point types rounded once, to nearest; a value goes into a type without
// fractions, imaginary parts or NaN only where it has none. InvalidArgument, which says the value
// and what the type holds, and nothing is written, where it does not fit. Floating-point numbers
// too large for a floating-point type become what float_format.h says.
absl::Status WriteElement(void* data, int64_t bit_offset, DType dtype, const ElementValue& value);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_ELEMENT_H_
