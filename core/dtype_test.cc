#include "dovetail/core/dtype.h"

#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/freestanding/narrow_floats.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

static_assert(dtype_of<float> == kFloat32 && dtype_of<const int64_t> == kInt64);
static_assert(dtype_of<std::complex<double>> == kComplex128 && dtype_of<void*> == kHandle);
static_assert(dtype_of<bool> == kBool && dtype_of<uint8_t> == kUInt8);
static_assert(dtype_of<long> == kInt64 && dtype_of<long long> == kInt64);
static_assert(dtype_of<float16> == kFloat16 && dtype_of<const bfloat16> == kBFloat16);
static_assert(dtype_of<float8_e4m3fn> == kFloat8E4M3Fn && dtype_of<float8_e5m2> == kFloat8E5M2);
static_assert(dtype_of<unsigned long> == kUInt64 && dtype_of<const unsigned long long> == kUInt64);

TEST(DType, EveryEntryPrintsAndParsesWithAnyNumberOfLanes) {
  for (DType type : kAllDTypes) {
    for (int lanes : {1, 2, 4, 16, 65535}) {
      type.lanes = static_cast<uint16_t>(lanes);
      absl::StatusOr<DType> parsed = DType::Parse(type.ToString());
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ(*parsed, type);
      absl::StatusOr<DType> made = DType::Make(type.kind, type.bits, lanes);
      ASSERT_TRUE(made.ok()) << made.status();
      EXPECT_EQ(*made, type);
    }
  }
}

TEST(DType, NamesAreDistinct) {
  std::set<std::string> names;
  for (DType type : kAllDTypes) EXPECT_TRUE(names.insert(type.ToString()).second) << type;
  EXPECT_EQ(names.size(), std::size(kAllDTypes));
}

TEST(DType, NamesAreTheOnesInUse) {
  EXPECT_EQ(kFloat32.ToString(), "float32");
  EXPECT_EQ(kBFloat16.ToString(), "bfloat16");
  EXPECT_EQ(kFloat8E4M3Fn.ToString(), "float8_e4m3fn");
  EXPECT_EQ((DType{TypeKind::kFloat, 32, 4}).ToString(), "float32x4");
}

TEST(DType, NamesOfOtherLibrariesAreAnsweredWithOurs) {
  const std::pair<const char*, const char*> kNames[] = {
      {"bf16", "bfloat16"},
      {"BF16", "bfloat16"},
      {"half", "float16"},
      {"fp16", "float16"},
      {"float", "float32"},
      {"f32", "float32"},
      {"double", "float64"},
      {"long", "int64"},
      {"int32_t", "int32"},
      {"Int8", "int8"},
      {"torch.bfloat16", "bfloat16"},
      {"cfloat", "complex64"},
      {"fp8", "float8_e4m3fn"},
      {"fp8_e4m3fn", "float8_e4m3fn"},
      {"e5m2", "float8_e5m2"},
      {"fp4_e2m1", "float4_e2m1fn"},
      {"ue8m0", "float8_e8m0fnu"},
  };
  for (const auto& [name, meant] : kNames) {
    const absl::Status status = DType::Parse(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string answer = absl::StrCat("did you mean \"", meant, "\"?");
    EXPECT_NE(status.message().find(answer), std::string::npos) << status;
  }
}

TEST(DType, EverySuggestionIsAName) {
  for (const char* name :
       {"f16",    "single",      "short", "i16",     "i32",         "int",         "i64",
        "u16",    "u32",         "u64",   "boolean", "bool_",       "chalf",       "complex",
        "c64",    "cdouble",     "c128",  "float8",  "float8_e8m0", "float6_e2m3", "float6_e3m2",
        "float4", "float4_e2m1", "e4m3",  "e4m3fn",  "e8m0",        "e2m1"}) {
    const std::string message(DType::Parse(name).status().message());
    const std::string kBefore = "did you mean \"";
    const size_t begin = message.find(kBefore);
    ASSERT_NE(begin, std::string::npos) << name;
    const size_t first = begin + kBefore.size();
    EXPECT_TRUE(DType::Parse(message.substr(first, message.find('"', first) - first)).ok()) << name;
  }
}

TEST(DType, TextWithoutASimilarNameHasNoSuggestion) {
  for (const char* name : {"", "string", "torch.", "complex256", "float33", "_t"}) {
    const absl::Status status = DType::Parse(name).status();
    EXPECT_EQ(status.message().find("did you mean"), std::string::npos) << status;
  }
}

TEST(DType, LanesParseAsPyTorchSpellsThem) {
  EXPECT_EQ(*DType::Parse("float4_e2m1fn_x2"), (DType{TypeKind::kFloat4E2M1Fn, 4, 2}));
}

// Tries all 256 x 256 pairs through each function that makes a DType. Only the pairs of the list
// exist.
TEST(DType, PairsOutsideTheListAreUnknown) {
  int known = 0;
  for (int kind = 0; kind < 256; ++kind) {
    for (int bits = 0; bits < 256; ++bits) {
      const DType type{static_cast<TypeKind>(kind), static_cast<uint8_t>(bits), 1};
      bool listed = false;
      for (DType t : kAllDTypes) listed |= t == type;
      known += listed;
      ASSERT_EQ(type.is_known(), listed) << kind << " " << bits;
      ASSERT_EQ(DType::Make(type.kind, bits).ok(), listed) << kind << " " << bits;
    }
  }
  EXPECT_EQ(known, static_cast<int>(std::size(kAllDTypes)));
}

TEST(DType, ATypeWithZeroLanesIsUnknown) {
  EXPECT_FALSE((DType{TypeKind::kFloat, 32, 0}).is_known());
  for (int lanes : {0, -1, 65536}) {
    absl::StatusOr<DType> type = DType::Make(TypeKind::kFloat, 32, lanes);
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(type.status().message(), HasSubstr(std::to_string(lanes)));
  }
}

TEST(DType, WidthsThatWrapAroundAByteAreRefused) {
  for (int bits : {-1, 256 + 32, 512, INT32_MAX, INT32_MIN}) {
    absl::StatusOr<DType> type = DType::Make(TypeKind::kFloat, bits);
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument) << bits;
  }
}

TEST(DType, AnUnknownTypePrintsItsNumbers) {
  EXPECT_EQ((DType{static_cast<TypeKind>(77), 24, 1}).ToString(), "type code 77 of 24 bits x1");
  EXPECT_EQ((DType{TypeKind::kFloat, 24, 2}).ToString(), "float of 24 bits x2");
}

TEST(DType, TextThatIsNoTypeIsRefusedWithAListOfTypes) {
  for (const char* text : {"", "float", "float33", "Float32", "float32 ", " float32", "float32x",
                           "float32x0", "float32x65536", "float32x-1", "float32_", "float32_2",
                           "float32xx2", "float32x2x2", "int", "float8", "float8_e4m3f", "x2"}) {
    absl::StatusOr<DType> type = DType::Parse(text);
    ASSERT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(type.status().message(), HasSubstr("bool, int2"));
  }
}

TEST(DType, SizesCountAllLanes) {
  EXPECT_EQ(kFloat32.itemsize(), 4);
  EXPECT_EQ(kComplex128.itemsize(), 16);
  EXPECT_EQ(kBool.itemsize(), 1);
  EXPECT_EQ((DType{TypeKind::kFloat, 32, 4}).itemsize(), 16);
  EXPECT_EQ((DType{TypeKind::kComplex, 128, 65535}).element_bits(), 128 * 65535);
}

TEST(DType, ElementsThatDoNotFillBytesAreSubByte) {
  EXPECT_TRUE(kInt4.is_sub_byte());
  EXPECT_EQ(kInt4.itemsize(), 1);
  EXPECT_TRUE(kFloat6E2M3Fn.is_sub_byte());
  EXPECT_FALSE((DType{TypeKind::kFloat4E2M1Fn, 4, 2}).is_sub_byte());
  EXPECT_TRUE((DType{TypeKind::kFloat6E2M3Fn, 6, 2}).is_sub_byte());
  EXPECT_EQ((DType{TypeKind::kFloat6E2M3Fn, 6, 2}).itemsize(), 2);
  EXPECT_FALSE(kUInt8.is_sub_byte());
}

TEST(DType, HashesAsItCompares) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      std::vector<DType>(std::begin(kAllDTypes), std::end(kAllDTypes))));
}

}  // namespace
}  // namespace dovetail
