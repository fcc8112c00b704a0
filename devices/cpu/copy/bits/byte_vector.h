// Sixteen bytes, as every processor has a register for.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_BYTE_VECTOR_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_BYTE_VECTOR_H_

#include <cstdint>
#include <cstring>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

inline constexpr int kVectorBytes = 16;
using ByteVector = unsigned char __attribute__((vector_size(kVectorBytes)));

inline ByteVector LoadVector(const unsigned char* p) {
  ByteVector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void StoreVector(unsigned char* p, ByteVector v) { std::memcpy(p, &v, sizeof v); }

// Shifts by words, which processors have: bits may come in from the byte beside.
using WordVector = uint64_t __attribute__((vector_size(kVectorBytes)));
inline ByteVector ShiftedUp(ByteVector v, int bits) {
  return reinterpret_cast<ByteVector>(reinterpret_cast<WordVector>(v) << bits);
}
inline ByteVector ShiftedDown(ByteVector v, int bits) {
  return reinterpret_cast<ByteVector>(reinterpret_cast<WordVector>(v) >> bits);
}

// The bytes of two vectors in turn.
inline ByteVector FirstInTurn(ByteVector a, ByteVector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline ByteVector LastInTurn(ByteVector a, ByteVector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}
inline ByteVector EverySecond(ByteVector a, ByteVector b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
inline ByteVector EverySecondFromOne(ByteVector a, ByteVector b) {
  return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_BYTE_VECTOR_H_
