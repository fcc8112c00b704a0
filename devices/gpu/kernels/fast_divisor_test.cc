#include "dovetail/devices/gpu/kernels/fast_divisor.h"

#include <random>

#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

constexpr uint32_t kLargest = (uint32_t{1} << 31) - 1;

void ExpectDivides(uint32_t dividend, uint32_t divisor) {
  EXPECT_EQ(FastDivisor(divisor).Quotient(dividend), dividend / divisor)
      << dividend << " / " << divisor;
}

TEST(FastDivisor, DividesEveryEdgeByEveryEdge) {
  for (uint32_t p = 0; p < 31; ++p) {
    for (uint32_t q = 0; q < 31; ++q) {
      for (int i = -1; i <= 1; ++i) {
        for (int k = -1; k <= 1; ++k) {
          const uint32_t divisor = (uint32_t{1} << q) + k;
          if (divisor > 0) ExpectDivides((uint32_t{1} << p) + i, divisor);
        }
      }
      ExpectDivides(kLargest, uint32_t{1} << q);
    }
    ExpectDivides(uint32_t{1} << p, kLargest);
  }
  ExpectDivides(kLargest, kLargest);
  ExpectDivides(kLargest, 1);
  ExpectDivides(0, 1);
}

TEST(FastDivisor, DividesRandomNumbers) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t dividend = random() & kLargest;
    ExpectDivides(dividend, std::max<uint32_t>((random() & kLargest) >> (random() % 31), 1));
  }
}

}  // namespace
}  // namespace dovetail::gpu
