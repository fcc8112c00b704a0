// Tests of narrow_floats.h in C++17, in C++20, and with the instructions of AVX2 and F16C.

#include "dovetail/core/freestanding/narrow_floats.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "dovetail/core/freestanding/testing/float_reference.h"
#include "gtest/gtest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace dovetail {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Elements are trivial, and converting them can be a constant expression.
static_assert(std::is_trivial<float16>::value && std::is_standard_layout<float16>::value);
static_assert(sizeof(bfloat16) == 2 && sizeof(float8_e5m2) == 1 && alignof(float8_e5m2) == 1);
static_assert(float16(1.0f).bits == 0x3c00 && bfloat16(1.0f).bits == 0x3f80);
static_assert(float8_e4m3fn(1.0f).bits == 0x38 && float8_e5m2(1.0f).bits == 0x3c);
static_assert(float16::FromBits(1) == 0x1p-24f && float8_e4m3fn::FromBits(1) == 0x1p-9f);
static_assert(float16(65520.0f) == kInf && float8_e5m2(-1e9f) == -kInf);
static_assert(float8_e4m3fn(464.0f) == 448.0f && float8_e4m3fn(465.0f).bits == 0x7f);

template <typename T>
using Limits = std::numeric_limits<T>;
static_assert(Limits<float16>::max() == 65504.0f && Limits<float16>::lowest() == -65504.0f);
static_assert(Limits<float16>::min() == 0x1p-14f && Limits<float16>::denorm_min() == 0x1p-24f);
static_assert(Limits<float16>::epsilon() == 0x1p-10f && Limits<float16>::digits10 == 3);
static_assert(Limits<float16>::infinity() == kInf && Limits<float16>::max_digits10 == 5);
static_assert(Limits<bfloat16>::epsilon() == 0x1p-7f && Limits<bfloat16>::min() == 0x1p-126f);
static_assert(Limits<bfloat16>::max_exponent == 128 && Limits<bfloat16>::min_exponent == -125);
static_assert(Limits<bfloat16>::max_exponent10 == 38 && Limits<bfloat16>::min_exponent10 == -37);
static_assert(Limits<float8_e4m3fn>::max() == 448.0f && !Limits<float8_e4m3fn>::has_infinity);
static_assert(Limits<float8_e4m3fn>::quiet_NaN().bits == 0x7f);
static_assert(Limits<float8_e4m3fn>::max_exponent == 9 && Limits<float8_e4m3fn>::digits == 4);
static_assert(Limits<float8_e5m2>::max() == 57344.0f && Limits<float8_e5m2>::epsilon() == 0.25f);

// The DLPack code and the width of a NarrowFloat.
template <typename T>
struct TypeOf;
template <internal_dtype::TypeCode kElementCode, int kElementBits>
struct TypeOf<NarrowFloat<kElementCode, kElementBits>> {
  static constexpr uint8_t kCode = kElementCode;
  static constexpr int kBits = kElementBits;
};

float FloatOfBits(uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
uint32_t BitsOf(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
// Without arithmetic, so that -ffinite-math-only and flush-to-zero do not matter.
bool IsNan(float x) { return (BitsOf(x) & 0x7fffffff) > 0x7f800000; }

// In its scope subnormal results are 0, and subnormal operands count as 0.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  FlushToZero() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | 1 << 24) : "memory");
  }
  ~FlushToZero() { asm volatile("msr fpcr, %0" : : "r"(before_) : "memory"); }
#endif
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
#if defined(__x86_64__)
  unsigned before_;
#else
  uint64_t before_ = 0;
#endif
};

template <typename T>
class NarrowFloats : public testing::Test {
 protected:
  static constexpr uint8_t kCode = TypeOf<T>::kCode;
  static constexpr int kBits = TypeOf<T>::kBits;
  static constexpr uint32_t kNumCodes = 1u << kBits;
  static constexpr uint32_t kSign = kNumCodes / 2;

  void SetUp() override {
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "The CPU has no AVX2.";
#endif
  }

  static T Element(uint32_t code) { return T::FromBits(static_cast<typename T::Bits>(code)); }
  static double Decoded(uint32_t code) { return DecodeReference(kCode, kBits, code); }
  static uint32_t Encoded(float x) {
    return static_cast<uint32_t>(EncodeReference(kCode, kBits, double{x}));
  }

  // Every number of the format, the midpoint between it and the next one, and the floats next to
  // these; the midpoint above the largest number; special floats.
  static std::vector<float> InterestingFloats() {
    std::vector<float> all = {kInf,
                              std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::min(),
                              std::numeric_limits<float>::denorm_min(),
                              FloatOfBits(0x007fffff),
                              FloatOfBits(0x00400000)};
    for (uint32_t code = 0; code < kSign && std::isfinite(Decoded(code)); ++code) {
      const double number = Decoded(code);
      const bool is_last = !std::isfinite(Decoded(code + 1));
      const double step = is_last ? number - Decoded(code - 1) : Decoded(code + 1) - number;
      for (const double x : {number, number + step / 2}) {
        const auto middle = static_cast<float>(x);
        for (const float y : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, kInf)}) {
          all.push_back(y);
        }
      }
    }
    std::mt19937 random(1);
    for (int i = 0; i < 100000; ++i) {
      const float x = FloatOfBits(static_cast<uint32_t>(random()) & 0x7fffffff);
      if (!IsNan(x)) all.push_back(x);
    }
    const size_t count = all.size();
    for (size_t i = 0; i < count; ++i) all.push_back(-all[i]);
    return all;
  }

  // Elements and floats that convert to codes of all kinds, NaN included.
  static std::vector<T> SomeElements(size_t count) {
    std::mt19937 random(2);
    std::vector<T> all(count);
    for (T& x : all) x = Element(static_cast<uint32_t>(random()) % kNumCodes);
    return all;
  }
  static std::vector<float> SomeFloats(size_t count) {
    std::mt19937 random(3);
    std::vector<float> all(count);
    for (float& x : all) {
      const uint32_t bits = static_cast<uint32_t>(random());
      x = bits % 8 == 0 ? FloatOfBits(bits) : static_cast<float>(Decoded(bits % kNumCodes)) * 1.03f;
    }
    return all;
  }
};
using Types = testing::Types<float16, bfloat16, float8_e4m3fn, float8_e5m2>;
TYPED_TEST_SUITE(NarrowFloats, Types);

TYPED_TEST(NarrowFloats, EveryNumberConvertsToFloatExactlyAndBack) {
  for (uint32_t code = 0; code < this->kNumCodes; ++code) {
    const double expected = this->Decoded(code);
    if (std::isnan(expected)) continue;
    const float x = this->Element(code);
    ASSERT_EQ(double{x}, expected) << "code " << code;
    ASSERT_EQ(std::signbit(x), (code & this->kSign) != 0) << "code " << code;
    ASSERT_EQ(TypeParam(x).bits, code);
  }
}

TYPED_TEST(NarrowFloats, NansStayNansWithTheirSign) {
  for (uint32_t code = 0; code < this->kNumCodes; ++code) {
    if (!std::isnan(this->Decoded(code))) continue;
    const float x = this->Element(code);
    ASSERT_TRUE(IsNan(x)) << "code " << code;
    ASSERT_EQ(BitsOf(x) >> 31 != 0, (code & this->kSign) != 0) << "code " << code;
  }
  for (const uint32_t bits : {0x7fc00000u, 0x7f800001u, 0x7fbfffffu, 0x7fffffffu, 0x7fc12345u}) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      // Only float16 keeps a payload, as F16C does.
      const bool is_float16 = std::is_same<TypeParam, float16>::value;
      const uint32_t payload = is_float16 ? bits >> 13 & 0x3ff : 0;
      const uint32_t code = TypeParam(FloatOfBits(bits | sign)).bits;
      ASSERT_EQ(code, this->Encoded(FloatOfBits(bits | sign)) | payload) << std::hex << bits;
    }
  }
}

TYPED_TEST(NarrowFloats, FloatsRoundAsTheReferenceSays) {
  for (const float x : this->InterestingFloats()) {
    ASSERT_EQ(TypeParam(x).bits, this->Encoded(x)) << std::hexfloat << x;
  }
}

TYPED_TEST(NarrowFloats, ArraysOfFloatsRoundAsTheReferenceSays) {
  const std::vector<float> floats = this->InterestingFloats();
  std::vector<TypeParam> narrow(floats.size());
  Narrow(floats.data(), static_cast<int64_t>(floats.size()), narrow.data());
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(narrow[i].bits, this->Encoded(floats[i])) << std::hexfloat << floats[i];
  }
}

TYPED_TEST(NarrowFloats, ArraysWidenAsTheirElementsAtAnyLengthAndAddress) {
  const std::vector<TypeParam> from = this->SomeElements(80);
  for (int64_t count = 0; count <= 67; ++count) {
    for (int64_t offset = 0; offset < 8; ++offset) {
      std::vector<float> to(80, -3.0f);
      Widen(from.data() + offset, count, to.data() + 7 - offset);
      for (int64_t i = 0; i < 80; ++i) {
        const int64_t element = i - 7 + offset;
        const bool is_written = element >= 0 && element < count;
        const float expected = is_written ? float{from[offset + element]} : -3.0f;
        ASSERT_EQ(BitsOf(to[i]), BitsOf(expected)) << count << " from " << offset << ": " << i;
      }
    }
  }
}

TYPED_TEST(NarrowFloats, ArraysNarrowAsTheirElementsAtAnyLengthAndAddress) {
  const std::vector<float> from = this->SomeFloats(80);
  const TypeParam mark(-3.0f);
  for (int64_t count = 0; count <= 67; ++count) {
    for (int64_t offset = 0; offset < 8; ++offset) {
      std::vector<TypeParam> to(80, mark);
      Narrow(from.data() + offset, count, to.data() + 7 - offset);
      for (int64_t i = 0; i < 80; ++i) {
        const int64_t element = i - 7 + offset;
        const bool is_written = element >= 0 && element < count;
        const TypeParam expected = is_written ? TypeParam(from[offset + element]) : mark;
        ASSERT_EQ(to[i].bits, expected.bits) << count << " from " << offset << ": " << i;
      }
    }
  }
}

TYPED_TEST(NarrowFloats, ConversionsDoNotDependOnFlushToZero) {
  std::vector<TypeParam> codes(this->kNumCodes);
  for (uint32_t code = 0; code < this->kNumCodes; ++code) codes[code] = this->Element(code);
  std::vector<float> expected(codes.size()), floats(codes.size());
  std::vector<TypeParam> back(codes.size()), expected_back(codes.size());
  const auto count = static_cast<int64_t>(codes.size());
  Widen(codes.data(), count, expected.data());
  Narrow(expected.data(), count, expected_back.data());
  {
    const FlushToZero flush;
    Widen(codes.data(), count, floats.data());
    Narrow(floats.data(), count, back.data());
  }
  ASSERT_EQ(std::memcmp(floats.data(), expected.data(), 4 * codes.size()), 0);
  ASSERT_EQ(std::memcmp(back.data(), expected_back.data(), sizeof(TypeParam) * codes.size()), 0);
}

TYPED_TEST(NarrowFloats, ArithmeticIsThatOfFloat) {
  const TypeParam x(1.5f), y(-0.5f);
  static_assert(std::is_same<decltype(x * y), float>::value, "computed in float");
  static_assert(std::is_same<decltype(2 * x), float>::value, "computed in float");
  static_assert(std::is_same<decltype(2.0 * x), double>::value, "computed in double");
  EXPECT_EQ(2.0f * x + y, 2.5f);
  EXPECT_EQ(-x, -1.5f);
  EXPECT_TRUE(y < x && x != y && x == 1.5f);
  TypeParam z = x;
  z += 1;
  EXPECT_EQ(z, 2.5f);
  z -= y;
  EXPECT_EQ(z, 3.0f);
  z *= 4.0f;
  EXPECT_EQ(z, 12.0f);
  z = 2.0f * y;
  z /= x - 2.0f;
  EXPECT_EQ(z, 2.0f);
}

TEST(Floats, AreCopiedByWidenAndNarrow) {
  const float from[] = {1.0f, -0.0f, kInf};
  float to[] = {5.0f, 5.0f, 5.0f};
  Widen(from, 2, to);
  EXPECT_EQ(to[0], 1.0f);
  EXPECT_TRUE(std::signbit(to[1]));
  EXPECT_EQ(to[2], 5.0f);
  Narrow(from, 3, to);
  EXPECT_EQ(to[2], kInf);
  Widen(static_cast<const float*>(nullptr), 0, to);
}

}  // namespace
}  // namespace dovetail
