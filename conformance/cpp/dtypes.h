// The element types that the checks try: their numbers in DLPack, and the bytes of 1 and 2.

#ifndef DLPACK_CONFORMANCE_DTYPES_H_
#define DLPACK_CONFORMANCE_DTYPES_H_

#include <cstdint>

#include "dlpack/dlpack.h"

namespace dlpack_conformance {

// The numbers are written here because older headers have no names for the later ones.
struct DType {
  const char* name;
  uint8_t code;
  uint8_t bits;
  uint64_t one;  // the bits of 1 and 2, of complex ones those of the real part; bool: true and true
  uint64_t two;

  DLDataType dl() const { return {code, bits, 1}; }
};

inline constexpr DType kDTypes[] = {
    {"bool", 6, 8, 1, 1},
    {"int8", 0, 8, 1, 2},
    {"int16", 0, 16, 1, 2},
    {"int32", 0, 32, 1, 2},
    {"int64", 0, 64, 1, 2},
    {"uint8", 1, 8, 1, 2},
    {"uint16", 1, 16, 1, 2},
    {"uint32", 1, 32, 1, 2},
    {"uint64", 1, 64, 1, 2},
    {"float16", 2, 16, 0x3c00, 0x4000},
    {"float32", 2, 32, 0x3f800000, 0x40000000},
    {"float64", 2, 64, 0x3ff0000000000000, 0x4000000000000000},
    {"complex64", 5, 64, 0x3f800000, 0x40000000},
    {"complex128", 5, 128, 0x3ff0000000000000, 0x4000000000000000},
    {"bfloat16", 4, 16, 0x3f80, 0x4000},
    {"float8_e3m4", 7, 8, 0x30, 0x40},
    {"float8_e4m3", 8, 8, 0x38, 0x40},
    {"float8_e4m3b11fnuz", 9, 8, 0x58, 0x60},
    {"float8_e4m3fn", 10, 8, 0x38, 0x40},
    {"float8_e4m3fnuz", 11, 8, 0x40, 0x48},
    {"float8_e5m2", 12, 8, 0x3c, 0x40},
    {"float8_e5m2fnuz", 13, 8, 0x40, 0x44},
    {"float8_e8m0fnu", 14, 8, 0x7f, 0x80},
};

inline constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_DTYPES_H_
