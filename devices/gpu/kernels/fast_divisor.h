// FastDivisor: division by a launch constant, as a multiplication and a shift.
//
//   const FastDivisor by(7);
//   by.Quotient(50)     // 7
//
// Dividends are below 2^31, divisors from 1 to 2^31 - 1. Source: Granlund and Montgomery, "Division
// by invariant integers using multiplication" (1994), figure 4.1. With dividends below 2^31 the sum
// fits into 32 bits.

#ifndef DOVETAIL_DEVICES_GPU_KERNELS_FAST_DIVISOR_H_
#define DOVETAIL_DEVICES_GPU_KERNELS_FAST_DIVISOR_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/kernels/host_device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct FastDivisor {
  FastDivisor() = default;
  explicit FastDivisor(uint32_t by) : divisor(by) {
    while (shift < 31 && (uint32_t{1} << shift) < by) ++shift;
    const uint64_t excess = (uint64_t{1} << shift) - by;
    multiplier = static_cast<uint32_t>((excess << 32) / by + 1);
  }

  DOVETAIL_HOST_DEVICE uint32_t Quotient(uint32_t dividend) const {
    return (MultiplyHigh(dividend, multiplier) + dividend) >> shift;
  }

  uint32_t divisor = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_KERNELS_FAST_DIVISOR_H_
