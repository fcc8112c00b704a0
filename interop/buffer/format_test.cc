#include "dovetail/interop/buffer/format.h"

#include <bit>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view format, int64_t itemsize) {
  absl::StatusOr<DType> type = DTypeFromFormat(format, itemsize);
  EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument) << format;
  EXPECT_THAT(type.status().message(), HasSubstr(std::string(format)));
  return std::string(type.status().message());
}

struct Case {
  const char* format;
  int64_t itemsize;
  DType type;
};

// The formats that NumPy 2.4 and ctypes of CPython 3.11 write on x86-64 Linux, and the other codes
// of the struct module.
// Rule 60.
TEST(Format, EveryCodeOfOneNumberIsRead) {
  for (const Case& c : {
           Case{"?", 1, kBool},     {"b", 1, kInt8},      {"B", 1, kUInt8},
           {"c", 1, kUInt8},        {"h", 2, kInt16},     {"H", 2, kUInt16},
           {"i", 4, kInt32},        {"I", 4, kUInt32},    {"l", 8, kInt64},
           {"L", 8, kUInt64},       {"q", 8, kInt64},     {"Q", 8, kUInt64},
           {"n", 8, kInt64},        {"N", 8, kUInt64},    {"e", 2, kFloat16},
           {"f", 4, kFloat32},      {"d", 8, kFloat64},   {"Zf", 8, kComplex64},
           {"Zd", 16, kComplex128}, {"F", 8, kComplex64}, {"D", 16, kComplex128},
           {"P", 8, kHandle},
       }) {
    absl::StatusOr<DType> type = DTypeFromFormat(c.format, c.itemsize);
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ(*type, c.type) << c.format;
  }
}

TEST(Format, APrefixOfThisMachinesByteOrderChangesNothing) {
  const char ours = std::endian::native == std::endian::little ? '<' : '>';
  for (char prefix : {'@', '=', '^', ours}) {
    EXPECT_EQ(*DTypeFromFormat(std::string(1, prefix) + "i", 4), kInt32) << prefix;
    EXPECT_EQ(*DTypeFromFormat(std::string(1, prefix) + "Zd", 16), kComplex128) << prefix;
  }
}

TEST(Format, TheItemsizeSaysHowWideALongIs) {
  EXPECT_EQ(*DTypeFromFormat("<l", 4), kInt32);  // struct's standard size
  EXPECT_EQ(*DTypeFromFormat("<l", 8), kInt64);  // some exporters mean the native size
  EXPECT_EQ(*DTypeFromFormat("=L", 4), kUInt32);
}

// Rules 15, 60.
TEST(Format, TheOtherByteOrderIsRefusedWithTheRemedyUnlessElementsAreBytes) {
  const bool little = std::endian::native == std::endian::little;
  const std::string order = little ? ">" : "<";
  EXPECT_THAT(Refusal(order + "i", 4), HasSubstr(little ? "big-endian" : "little-endian"));
  EXPECT_THAT(Refusal(order + "d", 8), HasSubstr("newbyteorder"));
  EXPECT_THAT(Refusal(order + "Zf", 8), HasSubstr("byte order"));
  EXPECT_EQ(*DTypeFromFormat(order + "b", 1), kInt8);
  EXPECT_EQ(*DTypeFromFormat(order + "?", 1), kBool);
  EXPECT_THAT(Refusal(little ? "!h" : "<h", 2), HasSubstr("byte order"));
}

TEST(Format, ACodeAndAnItemsizeThatDisagreeAreRefused) {
  EXPECT_THAT(Refusal("i", 8), HasSubstr("itemsize of 8"));
  EXPECT_THAT(Refusal("d", 4), HasSubstr("itemsize of 4"));
  EXPECT_THAT(Refusal("b", 0), HasSubstr("itemsize of 0"));
  EXPECT_THAT(Refusal("B", -1), HasSubstr("itemsize of -1"));
  EXPECT_THAT(Refusal("q", int64_t{1} << 62), HasSubstr("itemsize"));
}

TEST(Format, WhatNoTensorHoldsIsRefusedWithWhatToDo) {
  EXPECT_THAT(Refusal("g", 16), HasSubstr("convert to float64"));
  EXPECT_THAT(Refusal("<g", 16), HasSubstr("convert to float64"));
  EXPECT_THAT(Refusal("Zg", 32), HasSubstr("convert to complex128"));
  EXPECT_THAT(Refusal("O", 8), HasSubstr("Python objects"));
  EXPECT_THAT(Refusal("s", 1), HasSubstr("uint8"));
  EXPECT_THAT(Refusal("3s", 3), HasSubstr("arrays in its elements"));
  EXPECT_THAT(Refusal("w", 4), HasSubstr("text"));
  EXPECT_THAT(Refusal("<u", 4), HasSubstr("text"));
  EXPECT_THAT(Refusal("T{i:a:}", 4), HasSubstr("one of the fields"));
  EXPECT_THAT(Refusal("(2,3)i", 24), HasSubstr("dimensions to the shape"));
  for (const char* unknown : {"", "<", "ii", "Z", "Zi", "k", "<<i", "i ", "Zfx", "@="}) {
    EXPECT_THAT(Refusal(unknown, 4), HasSubstr("unknown")) << unknown;
  }
}

// Rule 60.
TEST(Format, WhatIsWrittenReadsBackAsTheSameType) {
  int written = 0;
  for (DType t : kAllDTypes) {
    absl::StatusOr<const char*> format = FormatFromDType(t);
    if (!format.ok()) continue;
    ++written;
    absl::StatusOr<DType> back = DTypeFromFormat(*format, t.itemsize());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, t) << *format;
  }
  EXPECT_EQ(written, 15);  // bool, 8 integers, 3 floats, 2 complex types and the handle
}

TEST(Format, Int64IsWrittenAsNumPyDoes) {
  EXPECT_STREQ(*FormatFromDType(kInt64), sizeof(long) == 8 ? "l" : "q");
  EXPECT_STREQ(*FormatFromDType(kInt32), "i");
  EXPECT_STREQ(*FormatFromDType(kUInt8), "B");
  EXPECT_STREQ(*FormatFromDType(kComplex64), "Zf");
}

TEST(Format, TypesWithoutACodeAreRefusedByName) {
  for (DType t : {kBFloat16, kFloat8E4M3Fn, kFloat4E2M1Fn, kInt4, kComplex32,
                  DType{TypeKind::kFloat, 32, 4}}) {
    absl::StatusOr<const char*> format = FormatFromDType(t);
    EXPECT_EQ(format.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(format.status().message(), HasSubstr(t.ToString()));
    EXPECT_THAT(format.status().message(), HasSubstr("DLPack"));
  }
}

}  // namespace
}  // namespace dovetail
