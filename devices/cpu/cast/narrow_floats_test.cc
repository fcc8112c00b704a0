// Tests that core/freestanding/narrow_floats.h converts as casts do, to the bit.

#include "dovetail/core/freestanding/narrow_floats.h"

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/devices/cpu/cast/narrow.h"
#include "dovetail/devices/cpu/simd_level.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

template <typename T>
class NarrowFloats : public testing::Test {};
using Types = testing::Types<float16, bfloat16, float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(NarrowFloats, Types);

TYPED_TEST(NarrowFloats, EveryCodeWidensAsACast) {
  std::vector<TypeParam> codes(size_t{1} << dtype_of<TypeParam>.bits);
  for (size_t code = 0; code < codes.size(); ++code) {
    codes[code].bits = static_cast<typename TypeParam::Bits>(code);
  }
  std::vector<float> cast(codes.size()), widened(codes.size());
  WidenStep(dtype_of<TypeParam>, SimdLevel::kNone)(codes.data(), cast.data(), codes.size());
  Widen(codes.data(), static_cast<int64_t>(codes.size()), widened.data());
  for (size_t code = 0; code < codes.size(); ++code) {
    const auto expected = std::bit_cast<uint32_t>(cast[code]);
    ASSERT_EQ(std::bit_cast<uint32_t>(float{codes[code]}), expected) << code;
    ASSERT_EQ(std::bit_cast<uint32_t>(widened[code]), expected) << code;
  }
}

TYPED_TEST(NarrowFloats, FloatsNarrowAsInACast) {
  // Every sign, exponent and payload of a NaN that matters, with random low bits.
  std::mt19937 random(1);
  std::vector<float> floats;
  for (uint32_t upper = 0; upper < 1u << 16; ++upper) {
    for (const uint32_t lower : {0u, 0x8000u, static_cast<uint32_t>(random()) & 0xffffu}) {
      floats.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  std::vector<TypeParam> cast(floats.size()), narrowed(floats.size());
  NarrowStep(dtype_of<TypeParam>, SimdLevel::kNone)(floats.data(), cast.data(), floats.size());
  Narrow(floats.data(), static_cast<int64_t>(floats.size()), narrowed.data());
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(TypeParam(floats[i]).bits, cast[i].bits) << std::bit_cast<uint32_t>(floats[i]);
    ASSERT_EQ(narrowed[i].bits, cast[i].bits) << std::bit_cast<uint32_t>(floats[i]);
  }
}

}  // namespace
}  // namespace dovetail
