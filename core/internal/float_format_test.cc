#include "dovetail/core/internal/float_format.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static_assert(DecodeFloat(*FloatFormatOf(kFloat8E4M3Fn), 0x7e) == 448);
static_assert(EncodeFloat(*FloatFormatOf(kFloat8E4M3Fn), 0.3) == 0x2a);
static_assert(!FloatFormatOf(kInt8).has_value() && !FloatFormatOf(kComplex64).has_value());

// The types of up to 16 bits, for which all codes are tested.
constexpr DType kSmallTypes[] = {
    kFloat16,      kBFloat16,       kFloat8E3M4,   kFloat8E4M3,     kFloat8E4M3B11Fnuz,
    kFloat8E4M3Fn, kFloat8E4M3Fnuz, kFloat8E5M2,   kFloat8E5M2Fnuz, kFloat8E8M0Fnu,
    kFloat6E2M3Fn, kFloat6E3M2Fn,   kFloat4E2M1Fn,
};

class SmallFormat : public testing::TestWithParam<DType> {
 protected:
  FloatFormat f = *FloatFormatOf(GetParam());
  uint64_t num_codes() const { return uint64_t{1} << f.bits; }
};
INSTANTIATE_TEST_SUITE_P(All, SmallFormat, testing::ValuesIn(kSmallTypes),
                         [](const auto& info) { return info.param.ToString(); });

TEST_P(SmallFormat, DecodesFiniteCodesByTheTextbookFormula) {
  for (uint64_t code = 0; code <= f.max_finite(); ++code) {
    const int field = static_cast<int>(code >> f.mantissa_bits);
    const double fraction = std::ldexp(code % (1 << f.mantissa_bits), -f.mantissa_bits);
    const double expected = field == 0 && f.mantissa_bits > 0
                                ? std::ldexp(fraction, 1 - f.bias)
                                : std::ldexp(1 + fraction, field - f.bias);
    ASSERT_EQ(DecodeFloat(f, code), expected) << "code " << code;
    if (f.sign_bits == 0) continue;
    const bool is_nan = code == 0 && f.specials == FloatSpecials::kNanIsNegativeZero;
    const double negative = DecodeFloat(f, f.sign_mask() | code);
    if (is_nan) {
      ASSERT_TRUE(std::isnan(negative));
    } else {
      ASSERT_EQ(negative, -expected) << "code " << code;
      ASSERT_TRUE(std::signbit(negative)) << "code " << code;
    }
  }
}

TEST_P(SmallFormat, EveryCodeSurvivesDecodingAndEncoding) {
  for (uint64_t code = 0; code < num_codes(); ++code) {
    const double value = DecodeFloat(f, code);
    const uint64_t again = EncodeFloat(f, value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(DecodeFloat(f, again))) << "code " << code;
    } else {
      ASSERT_EQ(again, code) << value;
    }
  }
}

TEST_P(SmallFormat, LargerCodesAreLargerNumbers) {
  for (uint64_t code = 0; code < f.max_finite(); ++code) {
    ASSERT_LT(DecodeFloat(f, code), DecodeFloat(f, code + 1)) << "code " << code;
  }
}

TEST_P(SmallFormat, MidpointsGoToTheEvenNeighbourAndAllElseToTheNearest) {
  for (uint64_t code = 0; code < f.max_finite(); ++code) {
    const double middle = (DecodeFloat(f, code) + DecodeFloat(f, code + 1)) / 2;
    // Without a mantissa, the rounded significand is the leading 1, which is odd.
    const uint64_t even = f.mantissa_bits == 0 ? code + 1 : code + code % 2;
    ASSERT_EQ(EncodeFloat(f, middle), even) << middle;
    // Numbers between the two smallest of float8_e8m0fnu become the larger one.
    const bool rises = f.mantissa_bits == 0 && code == 0;
    ASSERT_EQ(EncodeFloat(f, std::nextafter(middle, 0)), rises ? 1 : code) << middle;
    ASSERT_EQ(EncodeFloat(f, std::nextafter(middle, kInf)), code + 1) << middle;
  }
}

TEST_P(SmallFormat, NegativeNumbersMirrorPositiveOnes) {
  if (f.sign_bits == 0) {
    EXPECT_TRUE(std::isnan(DecodeFloat(f, EncodeFloat(f, -1.0))));
    EXPECT_TRUE(std::isnan(DecodeFloat(f, EncodeFloat(f, 0.0))));
    return;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const double value = std::ldexp(std::generate_canonical<double, 53>(random) + 1e-300,
                                    static_cast<int>(random() % 64) - 40);
    const uint64_t positive = EncodeFloat(f, value);
    const bool no_sign = f.specials == FloatSpecials::kNanIsNegativeZero &&
                         (positive == 0 || positive == f.nan(false));
    ASSERT_EQ(EncodeFloat(f, -value), no_sign ? positive : positive | f.sign_mask()) << value;
  }
}

TEST_P(SmallFormat, OverflowGivesAnInfinityElseANanElseTheLargestNumber) {
  const double largest = DecodeFloat(f, f.max_finite());
  for (double value : {largest * 2, std::numeric_limits<double>::max(), kInf}) {
    const double result = DecodeFloat(f, EncodeFloat(f, value));
    switch (f.specials) {
      case FloatSpecials::kIeee:
        EXPECT_EQ(result, kInf) << value;
        break;
      case FloatSpecials::kNanOnly:
      case FloatSpecials::kNanIsNegativeZero:
        EXPECT_TRUE(std::isnan(result)) << value;
        break;
      case FloatSpecials::kNone:
        EXPECT_EQ(result, largest) << value;
        break;
    }
  }
}

TEST_P(SmallFormat, NanStaysNanIfTheFormatHasOne) {
  for (double nan : {kNan, -kNan}) {
    const double result = DecodeFloat(f, EncodeFloat(f, nan));
    if (f.has_nan()) {
      EXPECT_TRUE(std::isnan(result));
    } else {
      EXPECT_EQ(result, 0);
      EXPECT_TRUE(std::signbit(result));
    }
  }
}

// The largest and the smallest normal and subnormal number, and the codes of infinity and NaN.
// Sources: IEEE 754-2019; OCP 8-bit Floating Point 1.0, table 1; OCP Microscaling Formats 1.0,
// tables 1 to 7; std::numeric_limits of ml_dtypes 0.6.
struct Constants {
  DType type;
  double max, min_normal, min_subnormal;
  int infinity, nan;  // -1 if the format has none
};
class KnownConstants : public testing::TestWithParam<Constants> {};
INSTANTIATE_TEST_SUITE_P(
    All, KnownConstants,
    testing::Values(Constants{kFloat16, 65504, 0x1p-14, 0x1p-24, 0x7c00, 0x7e00},
                    Constants{kBFloat16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x7f80, 0x7fc0},
                    Constants{kFloat8E3M4, 15.5, 0.25, 0x1p-6, 0x70, 0x78},
                    Constants{kFloat8E4M3, 240, 0x1p-6, 0x1p-9, 0x78, 0x7c},
                    Constants{kFloat8E4M3B11Fnuz, 30, 0x1p-10, 0x1p-13, -1, 0x80},
                    Constants{kFloat8E4M3Fn, 448, 0x1p-6, 0x1p-9, -1, 0x7f},
                    Constants{kFloat8E4M3Fnuz, 240, 0x1p-7, 0x1p-10, -1, 0x80},
                    Constants{kFloat8E5M2, 57344, 0x1p-14, 0x1p-16, 0x7c, 0x7e},
                    Constants{kFloat8E5M2Fnuz, 57344, 0x1p-15, 0x1p-17, -1, 0x80},
                    Constants{kFloat8E8M0Fnu, 0x1p127, 0x1p-127, 0x1p-127, -1, 0xff},
                    Constants{kFloat6E2M3Fn, 7.5, 1, 0.125, -1, -1},
                    Constants{kFloat6E3M2Fn, 28, 0.25, 0.0625, -1, -1},
                    Constants{kFloat4E2M1Fn, 6, 1, 0.5, -1, -1}),
    [](const auto& info) { return info.param.type.ToString(); });

TEST_P(KnownConstants, AgreeWithTheStandards) {
  const Constants& c = GetParam();
  const FloatFormat f = *FloatFormatOf(c.type);
  EXPECT_EQ(DecodeFloat(f, f.max_finite()), c.max);
  EXPECT_EQ(EncodeFloat(f, c.max), f.max_finite());
  const uint64_t first_normal = f.mantissa_bits == 0 ? 0 : f.mantissa_mask() + 1;
  EXPECT_EQ(DecodeFloat(f, first_normal), c.min_normal);
  EXPECT_EQ(DecodeFloat(f, f.mantissa_bits == 0 ? 0 : 1), c.min_subnormal);
  if (c.infinity >= 0) {
    EXPECT_EQ(EncodeFloat(f, kInf), static_cast<uint64_t>(c.infinity));
    EXPECT_EQ(DecodeFloat(f, c.infinity), kInf);
  }
  if (c.nan >= 0) {
    EXPECT_EQ(EncodeFloat(f, kNan), static_cast<uint64_t>(c.nan));
    EXPECT_TRUE(std::isnan(DecodeFloat(f, c.nan)));
  }
}

TEST(FloatFormat, NumbersBelowHalfTheSmallestBecomeZeroOrTheSmallestPowerOfTwo) {
  EXPECT_EQ(EncodeFloat(*FloatFormatOf(kFloat8E5M2), 1e-300), 0u);
  EXPECT_EQ(EncodeFloat(*FloatFormatOf(kFloat8E5M2), -1e-300), 0x80u);
  EXPECT_EQ(EncodeFloat(*FloatFormatOf(kFloat8E5M2Fnuz), -1e-300), 0u);
  EXPECT_EQ(EncodeFloat(*FloatFormatOf(kFloat8E8M0Fnu), 1e-300), 0u);
  EXPECT_EQ(EncodeFloat(*FloatFormatOf(kFloat16), std::numeric_limits<double>::denorm_min()), 0u);
}

// 480 would follow 448, but its code is the NaN. The midpoint is 464.
TEST(FloatFormat, TheMidpointAboveTheLargestRoundsDownIfThatIsEven) {
  const FloatFormat f = *FloatFormatOf(kFloat8E4M3Fn);
  EXPECT_EQ(EncodeFloat(f, 464), 0x7eu);
  EXPECT_EQ(EncodeFloat(f, std::nextafter(464, kInf)), 0x7fu);
}

TEST(FloatFormat, RoundsOnceFromDouble) {
  // Just above the midpoint. Through float32 it would become the midpoint and round down to even.
  const double above = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(DecodeFloat(*FloatFormatOf(kBFloat16), EncodeFloat(*FloatFormatOf(kBFloat16), above)),
            1 + 0x1p-7);
}

TEST(FloatFormat, Float32AgreesWithTheProcessor) {
  const FloatFormat f = *FloatFormatOf(kFloat32);
  std::mt19937_64 random(2);
  for (int i = 0; i < 200000; ++i) {
    // Half of the values are any doubles; half are near the range of float, including subnormal
    // numbers.
    double value = std::bit_cast<double>(random());
    if (i % 2 == 0) value = std::ldexp(1 + std::fmod(value, 1), static_cast<int>(i % 300) - 160);
    if (std::isnan(value)) continue;
    const auto expected = std::bit_cast<uint32_t>(static_cast<float>(value));
    ASSERT_EQ(EncodeFloat(f, value), expected) << value;
    ASSERT_EQ(DecodeFloat(f, expected), static_cast<double>(static_cast<float>(value)));
  }
}

TEST(FloatFormat, Float64IsKeptBitForBit) {
  const FloatFormat f = *FloatFormatOf(kFloat64);
  for (uint64_t code : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, uint64_t{0x3ff0000000000001},
                        uint64_t{0x7ff0000000000000}, uint64_t{0x7fefffffffffffff}}) {
    EXPECT_EQ(EncodeFloat(f, DecodeFloat(f, code)), code);
  }
}

}  // namespace
}  // namespace dovetail
