// Managed structs in words, for failures.

#ifndef DLPACK_CONFORMANCE_DESCRIBE_H_
#define DLPACK_CONFORMANCE_DESCRIBE_H_

#include <string>

#include "dlpack/dlpack.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

// The fields of a struct, and its bytes in hexadecimal digits. Reads shape and strides only where
// ndim is that of a small tensor.
std::string Describe(const Managed& managed);

// "float32", or "code 99, 32 bits, 1 lane".
std::string NameOf(DLDataType dtype);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_DESCRIBE_H_
