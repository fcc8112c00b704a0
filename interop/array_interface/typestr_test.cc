#include "dovetail/interop/array_interface/typestr.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view typestr) {
  absl::StatusOr<DType> dtype = DTypeFromTypestr(typestr);
  EXPECT_EQ(dtype.status().code(), absl::StatusCode::kInvalidArgument) << typestr;
  return std::string(dtype.status().message());
}

TEST(Typestr, EveryTypeThatHasOneComesBackFromIt) {
  int count = 0;
  for (DType dtype : kAllDTypes) {
    absl::StatusOr<std::string> typestr = TypestrFromDType(dtype);
    if (!typestr.ok()) continue;
    EXPECT_EQ(DTypeFromTypestr(*typestr).value(), dtype) << *typestr;
    ++count;
  }
  EXPECT_EQ(count, 14);
}

// Rule 61.
TEST(Typestr, TheStringsAreNumPys) {
  const std::pair<DType, const char*> expected[] = {
      {kBool, "|b1"},    {kInt8, "|i1"},      {kUInt8, "|u1"},       {kInt16, "<i2"},
      {kUInt32, "<u4"},  {kInt64, "<i8"},     {kFloat16, "<f2"},     {kFloat32, "<f4"},
      {kFloat64, "<f8"}, {kComplex64, "<c8"}, {kComplex128, "<c16"},
  };
  for (const auto& [dtype, typestr] : expected) {
    EXPECT_EQ(TypestrFromDType(dtype).value(), typestr);
  }
}

TEST(Typestr, TypesWithoutOneAreRefusedByName) {
  for (DType dtype :
       {kBFloat16, kFloat8E4M3Fn, kInt4, kComplex32, DType{TypeKind::kFloat, 32, 2}}) {
    EXPECT_THAT(TypestrFromDType(dtype).status().message(), HasSubstr(dtype.ToString()));
  }
}

// Rules 15, 61.
TEST(Typestr, TheOtherByteOrderIsRefusedWithTheRemedy) {
  EXPECT_THAT(Refusal(">f4"), HasSubstr("newbyteorder"));
  EXPECT_EQ(DTypeFromTypestr(">i1").value(), kInt8) << "a byte has no order";
}

TEST(Typestr, TheNativeOrderHasSeveralNames) {
  EXPECT_EQ(DTypeFromTypestr("=f4").value(), kFloat32);
  EXPECT_EQ(DTypeFromTypestr("|f4").value(), kFloat32);
}

TEST(Typestr, WhatIsNoNumberIsRefusedWithAReason) {
  EXPECT_THAT(Refusal("|O8"), HasSubstr("Python objects"));
  EXPECT_THAT(Refusal("<U3"), HasSubstr("text"));
  EXPECT_THAT(Refusal("|S3"), HasSubstr("text"));
  EXPECT_THAT(Refusal("<M8[ns]"), HasSubstr("dates"));
  EXPECT_THAT(Refusal("|V8"), HasSubstr("fields"));
  EXPECT_THAT(Refusal("|t1"), HasSubstr("bits"));
  EXPECT_THAT(Refusal("<f16"), HasSubstr("float64"));
  EXPECT_THAT(Refusal("<c32"), HasSubstr("complex128"));
  EXPECT_THAT(Refusal("<i3"), HasSubstr("unknown"));
  EXPECT_THAT(Refusal("|b2"), HasSubstr("unknown"));
}

TEST(Typestr, WhatIsNoTypeStringIsRefused) {
  for (const char* text : {"", "<", "f4", "<f", "float32"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("\"<f4\"")) << text;
  }
}

}  // namespace
}  // namespace dovetail
