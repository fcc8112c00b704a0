// The element types that the checks try: their numbers in DLPack, and the bits of 1.

#ifndef DLPACK_CONFORMANCE_DTYPES_H_
#define DLPACK_CONFORMANCE_DTYPES_H_

#include <cstdint>

#include "dlpack/dlpack.h"

namespace dlpack_conformance {

// The numbers are written out because older headers have no names for the later ones.
struct DType {
  const char* name;
  uint8_t code;
  uint8_t bits;
  uint64_t one;  // the bits of 1, of complex ones those of the real part

  DLDataType dl() const { return {code, bits, 1}; }
};

inline constexpr DType kDTypes[] = {
#include "dlpack_conformance/dtypes.inc"
};

inline constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_DTYPES_H_
