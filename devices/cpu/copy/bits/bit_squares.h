// Transposes of elements that divide a byte, half of the way: what becomes a byte in the end is
// brought together, so that a transpose of bytes is left.
//
//   JoinRows(src, src_step, 96, 4, bytes);
//
// of the two rows of src gives 192 bytes: byte i holds element i of both, the first row's below.
// Two bits join four rows, one bit eight. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_SQUARES_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_SQUARES_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// 8 / bits rows, `src_step` bytes apart, of `row_bytes` bytes each, to row_bytes * 8 / bits bytes.
// `bits` is 1, 2 or 4.
void JoinRows(const unsigned char* src, int64_t src_step, int64_t row_bytes, int bits,
              unsigned char* dst);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_SQUARES_H_
