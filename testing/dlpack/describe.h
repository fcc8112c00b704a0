// Managed structs in words, for failures.

#ifndef DOVETAIL_TESTING_DLPACK_DESCRIBE_H_
#define DOVETAIL_TESTING_DLPACK_DESCRIBE_H_

#include <string>

#include "dlpack/dlpack.h"
#include "dovetail/testing/dlpack/library.h"

namespace dovetail::conformance {

// The fields of a struct, and its bytes in hexadecimal digits. Reads shape and strides only where
// ndim is that of a small tensor.
std::string Describe(const Managed& managed);

// "float32", or "code 99, 32 bits, 1 lane".
std::string NameOf(DLDataType dtype);

}  // namespace dovetail::conformance

#endif  // DOVETAIL_TESTING_DLPACK_DESCRIBE_H_
