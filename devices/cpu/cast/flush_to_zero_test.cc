// Tests that casts to and from narrow formats do not depend on what the thread does with subnormal
// numbers: programs set flush-to-zero (torch.set_flush_denormal, -ffast-math).

#include <bit>
#include <cstdint>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/devices/cpu/cast/narrow.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/simd_level.h"
#include "gtest/gtest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dovetail {
namespace {

// In its scope subnormal results are 0, and subnormal operands count as 0.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~FlushToZero() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | kFlushToZero) : "memory");
  }
  ~FlushToZero() { asm volatile("msr fpcr, %0" : : "r"(before_) : "memory"); }
#endif
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  unsigned before_;
#elif defined(__aarch64__)
  static constexpr uint64_t kFlushToZero = uint64_t{1} << 24;
  uint64_t before_;
#endif
};

std::vector<SimdLevel> Levels() {
  std::vector<SimdLevel> levels;
  for (SimdLevel level : {SimdLevel::kNone, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (HasSimdLevel(level)) levels.push_back(level);
  }
  return levels;
}

std::vector<DType> NarrowFloats() {
  std::vector<DType> types;
  for (DType t : kAllDTypes) {
    if (WideTypeOf(t) == kFloat32 && t != kFloat32) types.push_back(t);
  }
  return types;
}

// All codes of a type of at most 16 bits, an element each.
std::vector<char> AllCodes(DType t) {
  std::vector<char> codes;
  for (uint32_t code = 0; code < uint32_t{1} << t.bits; ++code) {
    codes.push_back(static_cast<char>(code));
    if (t.bits > 8) codes.push_back(static_cast<char>(code >> 8));
  }
  return codes;
}

// Casts `n` elements at a time: small numbers do not fill a vector.
template <typename T>
std::vector<T> CastBy(size_t n, CastStep step, const void* src, size_t src_size, size_t count) {
  std::vector<T> result(count);
  for (size_t i = 0; i + n <= count; i += n) {
    step(static_cast<const char*>(src) + i * src_size, &result[i], n);
  }
  return result;
}

class NarrowFloatTest : public testing::TestWithParam<DType> {};

TEST(FlushToZeroTest, TheScopeFlushes) {
  volatile float least_normal = 0x1p-126f;
  const FlushToZero flush;
  volatile float half = least_normal / 2;
  EXPECT_EQ(std::bit_cast<uint32_t>(static_cast<float>(half)), 0u);
}

TEST_P(NarrowFloatTest, EveryCodeIsWidenedTheSameUnderFlushToZero) {
  const DType t = GetParam();
  const FloatFormat f = *FloatFormatOf(t);
  const std::vector<char> codes = AllCodes(t);
  const size_t count = size_t{1} << t.bits, size = t.itemsize();
  const CastStep reference = WidenStep(t, SimdLevel::kNone);
  const auto expected = CastBy<uint32_t>(count, reference, codes.data(), size, count);
  for (size_t code = 0; code < count; ++code) {
    const auto number = static_cast<float>(DecodeFloat(f, code));
    if (number != number) continue;
    ASSERT_EQ(expected[code], std::bit_cast<uint32_t>(number)) << code;
  }
  for (SimdLevel level : Levels()) {
    const CastStep step = WidenStep(t, level);
    for (size_t n : {size_t{1}, size_t{2}, size_t{4}, size_t{8}, size_t{16}, count}) {
      EXPECT_EQ(CastBy<uint32_t>(n, step, codes.data(), size, count), expected) << n;
      const FlushToZero flush;
      EXPECT_EQ(CastBy<uint32_t>(n, step, codes.data(), size, count), expected)
          << n << " at a time, at level " << static_cast<int>(level);
    }
  }
}

template <typename Code>
void ExpectNarrowedTheSame(DType t, const std::vector<uint32_t>& numbers) {
  const auto cast = [&](size_t n, SimdLevel level) {
    return CastBy<Code>(n, NarrowStep(t, level), numbers.data(), 4, numbers.size());
  };
  const std::vector<Code> expected = cast(numbers.size(), SimdLevel::kNone);
  for (SimdLevel level : Levels()) {
    for (size_t n : {size_t{1}, size_t{4}, size_t{16}, numbers.size()}) {
      EXPECT_TRUE(cast(n, level) == expected) << n;
      const FlushToZero flush;
      EXPECT_TRUE(cast(n, level) == expected)
          << n << " at a time, at level " << static_cast<int>(level);
    }
  }
}

TEST_P(NarrowFloatTest, NumbersOfEveryMagnitudeAreNarrowedTheSameUnderFlushToZero) {
  // Every exponent, with every upper mantissa, beside each tie.
  std::vector<uint32_t> numbers;
  for (uint32_t upper = 0; upper < 1 << 18; ++upper) {
    for (uint32_t lower : {0u, 1u, 0x2000u, 0x3fffu}) numbers.push_back(upper << 14 | lower);
  }
  if (GetParam().itemsize() == 1) {
    ExpectNarrowedTheSame<uint8_t>(GetParam(), numbers);
  } else {
    ExpectNarrowedTheSame<uint16_t>(GetParam(), numbers);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, NarrowFloatTest, testing::ValuesIn(NarrowFloats()),
                         [](const auto& info) { return info.param.ToString(); });

TEST(FlushToZeroTest, AFloat64BecomesTheSameFloat16) {
  std::vector<uint64_t> numbers;
  for (uint64_t upper = 0; upper < 1 << 16; ++upper) {
    for (uint64_t lower : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 41, uint64_t{1} << 47}) {
      numbers.push_back(upper << 48 | lower);
    }
  }
  for (SimdLevel level : Levels()) {
    const CastPath path = *CastPath::Find(kFloat64, kFloat16, level);
    std::vector<uint16_t> expected(numbers.size()), flushed(numbers.size());
    path.Run(numbers.data(), expected.data(), numbers.size());
    const FlushToZero flush;
    path.Run(numbers.data(), flushed.data(), numbers.size());
    EXPECT_TRUE(flushed == expected) << "at level " << static_cast<int>(level);
  }
}

}  // namespace
}  // namespace dovetail
