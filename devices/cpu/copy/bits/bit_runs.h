// Runs of elements that are smaller than a byte, to and from a byte for each.
//
//   UnpackRun({src, bit, step, 4}, count, bytes);       // bytes[i] = element i
//   PackRun(bytes, count, {dst, bit, step, 4}, 0);      // the other way
//
// Elements that follow each other go eight at a time, by shifts of a 64-bit word. No byte is read
// or written that has no element of the run; bits of other elements in the first and last byte
// stay. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_RUNS_H_
#define DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_RUNS_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// Where a run lies: element i starts `bit + i * step` bits from `base` and has `bits` (1 to 7).
// `bit` and `step` may be negative.
template <typename Byte>
struct BitRun {
  Byte* base;
  int64_t bit;
  int64_t step;
  int bits;
};

void UnpackRun(const BitRun<const unsigned char>& src, int64_t count, unsigned char* bytes);

// `bytes` have no bits above an element's. The `cleared` bits above each element are set to 0.
void PackRun(const unsigned char* bytes, int64_t count, const BitRun<unsigned char>& dst,
             int64_t cleared);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_BITS_BIT_RUNS_H_
