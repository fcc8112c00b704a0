// core/internal/float_format.h for tests in C++17.
//
//   EncodeReference(kDLFloat8_e5m2, 8, 0.3)     // 0x35
//   DecodeReference(kDLFloat8_e5m2, 8, 0x35)    // 0.3125
//
// A code and a width that are no float end the program.

#ifndef DOVETAIL_CORE_FREESTANDING_TESTING_FLOAT_REFERENCE_H_
#define DOVETAIL_CORE_FREESTANDING_TESTING_FLOAT_REFERENCE_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

uint64_t EncodeReference(uint8_t code, int bits, double value);
double DecodeReference(uint8_t code, int bits, uint64_t element);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FREESTANDING_TESTING_FLOAT_REFERENCE_H_
