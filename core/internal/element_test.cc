#include "dovetail/core/internal/element.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

// Writes a value into misaligned bytes in which all bits are set, and reads it back.
ElementValue RoundTrip(DType dtype, const ElementValue& value) {
  std::array<unsigned char, 32> bytes;
  bytes.fill(0xff);
  absl::Status status = WriteElement(bytes.data() + 1, 0, dtype, value);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(bytes[0], 0xff);
  EXPECT_EQ(bytes[1 + dtype.itemsize()], 0xff) << "wrote beyond the element";
  return ReadElement(bytes.data() + 1, 0, dtype);
}

std::string Refusal(DType dtype, const ElementValue& value) {
  std::array<unsigned char, 16> bytes = {};
  absl::Status status = WriteElement(bytes.data(), 0, dtype, value);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << dtype;
  EXPECT_EQ(bytes, (std::array<unsigned char, 16>{})) << "a refused value was written";
  return std::string(status.message());
}

TEST(Element, AKindThatIsInNoListIsNoNumberAndIsNotWritten) {
  const DType unknown{static_cast<TypeKind>(99), 8, 1};
  const unsigned char byte = 7;
  EXPECT_TRUE(std::isnan(std::get<double>(ReadElement(&byte, 0, unknown))));
  EXPECT_THAT(Refusal(unknown, 1.0), HasSubstr("type code 99"));
}

TEST(Element, EveryTypeHoldsOneAndReadsItAsTheWidestTypeOfItsKind) {
  for (DType t : kAllDTypes) {
    ElementValue expected = 1.0;
    switch (t.kind) {
      case TypeKind::kBool:
        expected = true;
        break;
      case TypeKind::kInt:
        expected = int64_t{1};
        break;
      case TypeKind::kUInt:
      case TypeKind::kHandle:
        expected = uint64_t{1};
        break;
      case TypeKind::kComplex:
      case TypeKind::kBComplex:
        expected = std::complex<double>(1);
        break;
      default:
        break;
    }
    for (const ElementValue& one :
         {ElementValue(true), ElementValue(int64_t{1}), ElementValue(uint64_t{1}),
          ElementValue(1.0), ElementValue(std::complex<double>(1))}) {
      EXPECT_EQ(RoundTrip(t, one), expected) << t << " from alternative " << one.index();
    }
  }
}

TEST(Element, ReadsTheBytesAsTheProcessorHasThem) {
  const int32_t i = -7;
  EXPECT_EQ(ReadElement(&i, 0, kInt32), ElementValue(int64_t{-7}));
  const uint16_t u = 65535;
  EXPECT_EQ(ReadElement(&u, 0, kUInt16), ElementValue(uint64_t{65535}));
  const float f = 0.1f;
  EXPECT_EQ(ReadElement(&f, 0, kFloat32), ElementValue(static_cast<double>(0.1f)));
  const double d = 0.1;
  EXPECT_EQ(ReadElement(&d, 0, kFloat64), ElementValue(0.1));
  const std::complex<float> c(1.5f, -2.5f);
  EXPECT_EQ(ReadElement(&c, 0, kComplex64), ElementValue(std::complex<double>(1.5, -2.5)));
  const uint16_t half_pair[] = {0x3c00, 0xc000};
  EXPECT_EQ(ReadElement(half_pair, 0, kComplex32), ElementValue(std::complex<double>(1, -2)));
  const uint16_t brain_pair[] = {0x3f80, 0xc000};
  EXPECT_EQ(ReadElement(brain_pair, 0, kBComplex32), ElementValue(std::complex<double>(1, -2)));
}

TEST(Element, AnyByteButZeroIsTrue) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto b = static_cast<unsigned char>(byte);
    EXPECT_EQ(ReadElement(&b, 0, kBool), ElementValue(byte != 0));
  }
}

TEST(Element, AnythingGoesIntoABoolAsItsTruth) {
  EXPECT_EQ(RoundTrip(kBool, int64_t{-3}), ElementValue(true));
  EXPECT_EQ(RoundTrip(kBool, uint64_t{0}), ElementValue(false));
  EXPECT_EQ(RoundTrip(kBool, 0.5), ElementValue(true));
  EXPECT_EQ(RoundTrip(kBool, -0.0), ElementValue(false));
  EXPECT_EQ(RoundTrip(kBool, std::nan("")), ElementValue(true));
  EXPECT_EQ(RoundTrip(kBool, std::complex<double>(0, 1)), ElementValue(true));
}

TEST(Element, IntegersHoldTheirWholeRangeAndNoMore) {
  for (DType t : kAllDTypes) {
    if (t.kind != TypeKind::kInt && t.kind != TypeKind::kUInt) continue;
    const bool is_signed = t.kind == TypeKind::kInt;
    const int value_bits = t.bits - is_signed;
    const uint64_t highest = value_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << value_bits) - 1;
    const int64_t lowest = is_signed ? -static_cast<int64_t>(highest) - 1 : 0;
    if (is_signed) {
      EXPECT_EQ(RoundTrip(t, highest), ElementValue(static_cast<int64_t>(highest))) << t;
      EXPECT_EQ(RoundTrip(t, lowest), ElementValue(lowest)) << t;
    } else {
      EXPECT_EQ(RoundTrip(t, highest), ElementValue(highest)) << t;
      EXPECT_EQ(RoundTrip(t, lowest), ElementValue(uint64_t{0})) << t;
    }
    if (value_bits < 64) {
      EXPECT_THAT(Refusal(t, highest + 1), HasSubstr(std::to_string(highest))) << t;
    }
    if (t.bits < 64 || !is_signed) {
      EXPECT_THAT(Refusal(t, lowest - 1), HasSubstr(std::to_string(lowest))) << t;
    }
  }
}

TEST(Element, ARefusalSaysTheValueAndTheRange) {
  EXPECT_EQ(Refusal(kInt8, int64_t{300}),
            "300 can't be an element of type int8: it holds -128 to 127.");
  EXPECT_EQ(Refusal(kUInt8, int64_t{-1}),
            "-1 can't be an element of type uint8: it holds 0 to 255.");
  EXPECT_EQ(Refusal(kInt32, 1.5), "1.5 can't be an element of type int32: it has no fractions.");
  EXPECT_EQ(Refusal(kInt32, std::complex<double>(1, -2)),
            "(1-2j) can't be an element of type int32: it has no imaginary part.");
}

TEST(Element, IntegersTakeWholeFloatsAndRefuseAllOthers) {
  EXPECT_EQ(RoundTrip(kInt64, -0x1p63), ElementValue(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(RoundTrip(kUInt64, 0x1p63), ElementValue(uint64_t{1} << 63));
  EXPECT_EQ(RoundTrip(kInt8, -0.0), ElementValue(int64_t{0}));
  EXPECT_EQ(RoundTrip(kInt16, std::complex<double>(-5, 0)), ElementValue(int64_t{-5}));
  for (double value :
       {0x1p63, 0x1p64, -0x1.0000000000001p63, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(Refusal(kInt64, value), HasSubstr("-9223372036854775808 to 9223372036854775807"));
  }
  EXPECT_THAT(Refusal(kUInt64, 0x1p64), HasSubstr("0 to 18446744073709551615"));
  EXPECT_THAT(Refusal(kInt64, std::nan("")), HasSubstr("no NaN"));
  EXPECT_THAT(Refusal(kUInt64, -0.5), HasSubstr("no fractions"));
}

TEST(Element, FloatsRefuseImaginaryPartsAndNanWhereTheyHaveNone) {
  EXPECT_THAT(Refusal(kFloat32, std::complex<double>(1, 1)), HasSubstr("no imaginary part"));
  EXPECT_THAT(Refusal(kFloat4E2M1Fn, std::nan("")), HasSubstr("no NaN"));
  EXPECT_TRUE(std::isnan(std::get<double>(RoundTrip(kFloat8E5M2, std::nan("")))));
  EXPECT_EQ(RoundTrip(kFloat16, int64_t{70000}),
            ElementValue(std::numeric_limits<double>::infinity()));
}

TEST(Element, LargeIntegersAreRoundedToFloatsOnce) {
  // Exceeds the midpoint of two float32 by less than a double can represent.
  const uint64_t above = (uint64_t{1} << 62) + (uint64_t{1} << 38) + 1;
  EXPECT_EQ(RoundTrip(kFloat32, above), ElementValue(0x1p62 + 0x1p39));
  EXPECT_EQ(RoundTrip(kFloat32, -static_cast<int64_t>(above)), ElementValue(-0x1p62 - 0x1p39));
  EXPECT_EQ(RoundTrip(kFloat32, above - 1), ElementValue(0x1p62));
  EXPECT_EQ(RoundTrip(kComplex64, above), ElementValue(std::complex<double>(0x1p62 + 0x1p39)));
  for (uint64_t v : {above, ~uint64_t{0}, (uint64_t{1} << 53) + 1, uint64_t{1} << 63}) {
    EXPECT_EQ(RoundTrip(kFloat64, v), ElementValue(static_cast<double>(v))) << v;
    EXPECT_EQ(RoundTrip(kFloat32, v), ElementValue(static_cast<double>(static_cast<float>(v))));
  }
}

TEST(Element, ARealNumberHasNoNegativeZeroAsItsImaginaryPart) {
  const auto value = std::get<std::complex<double>>(RoundTrip(kComplex128, int64_t{-3}));
  EXPECT_EQ(value, std::complex<double>(-3));
  EXPECT_FALSE(std::signbit(value.imag()));
}

// Tries every sub-byte type at every position of an element in three bytes. All other bits are
// kept.
// Rule 18.
TEST(Element, PackedElementsLieLowestBitsFirstAndKeepTheirNeighbours) {
  for (DType t : kAllDTypes) {
    if (!t.is_sub_byte()) continue;
    for (int index = 0; (index + 1) * t.bits <= 24; ++index) {
      for (uint32_t background : {0x000000u, 0xffffffu, 0x5aa5c3u}) {
        for (uint32_t code = 0; code < (1u << t.bits); ++code) {
          unsigned char source[1] = {static_cast<unsigned char>(code)};
          const ElementValue value = ReadElement(source, 0, t);
          unsigned char bytes[3];
          for (int i = 0; i < 3; ++i) bytes[i] = background >> (8 * i) & 0xff;
          ASSERT_TRUE(WriteElement(bytes, index * t.bits, t, value).ok());
          const uint32_t mask = ((1u << t.bits) - 1) << (index * t.bits);
          const uint32_t expected = (background & ~mask) | code << (index * t.bits);
          ASSERT_EQ(bytes[0] | bytes[1] << 8 | bytes[2] << 16, static_cast<int>(expected))
              << t << " code " << code << " at " << index;
          ASSERT_EQ(ReadElement(bytes, index * t.bits, t), value);
        }
      }
    }
  }
}

TEST(Element, ThePackedElementThatEndsTheBufferReadsNoByteBeyond) {
  auto bytes =
      std::make_unique<unsigned char[]>(3);  // four elements of 6 bits; AddressSanitizer checks
  std::memset(bytes.get(), 0, 3);
  EXPECT_TRUE(WriteElement(bytes.get(), 18, kFloat6E2M3Fn, ElementValue(7.5)).ok());
  EXPECT_EQ(ReadElement(bytes.get(), 18, kFloat6E2M3Fn), ElementValue(7.5));
  EXPECT_EQ(bytes[2], 0x1f << 2);
}

}  // namespace
}  // namespace dovetail
