#include "dovetail/interop/array_interface/describe.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Refusal(const ArrayDescription& array) {
  BufferLayout out;
  out.nbytes = 77;
  absl::Status status = DescribeArray(array, &out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out.nbytes, 77u) << "filled in spite of the error";
  return std::string(status.message());
}

class Array : public testing::Test {
 protected:
  std::array<float, 6> values = {0, 1, 2, 3, 4, 5};
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> strides = {12, 4};
  BufferLayout out;

  ArrayDescription Describe() {
    return {.typestr = "<f4", .shape = shape, .strides = strides, .data = values.data()};
  }
  absl::Span<const char> Bytes(size_t size) {
    return {reinterpret_cast<const char*>(values.data()), size};
  }
};

// Rule 61.
TEST_F(Array, StridesComeInBytesAndAreKeptInElements) {
  strides = {4, 8};
  ASSERT_TRUE(DescribeArray(Describe(), &out).ok());
  EXPECT_EQ(out.dtype, kFloat32);
  EXPECT_THAT(out.layout.shape(), ElementsAre(2, 3));
  EXPECT_THAT(out.layout.strides(), ElementsAre(1, 2));
  EXPECT_EQ(out.data, values.data());
  EXPECT_EQ(out.nbytes, 24u);
  EXPECT_EQ(out.access, Access::kReadWrite);
}

TEST_F(Array, WithoutStridesItIsRowMajor) {
  ArrayDescription a = Describe();
  a.strides.reset();
  ASSERT_TRUE(DescribeArray(a, &out).ok());
  EXPECT_THAT(out.layout.strides(), ElementsAre(3, 1));
}

TEST_F(Array, WithoutDimensionsItIsOneElement) {
  shape.clear();
  strides.clear();
  ASSERT_TRUE(DescribeArray(Describe(), &out).ok());
  EXPECT_EQ(out.layout.rank(), 0);
  EXPECT_EQ(out.nbytes, 4u);
}

// Rule 61.
TEST_F(Array, ReadOnlyIsKept) {
  ArrayDescription a = Describe();
  a.read_only = true;
  ASSERT_TRUE(DescribeArray(a, &out).ok());
  EXPECT_EQ(out.access, Access::kReadOnly);
}

TEST_F(Array, AMaskIsRefused) {
  ArrayDescription a = Describe();
  a.has_mask = true;
  EXPECT_THAT(Refusal(a), HasSubstr("mask"));
}

TEST_F(Array, StridesAreAsManyAsDimensions) {
  strides = {4};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("2 dimensions and its strides 1"));
}

// Rule 61.
TEST_F(Array, ElementsLieInsideTheBufferThatTellsItsSize) {
  ArrayDescription a = Describe();
  a.within = Bytes(24);
  EXPECT_TRUE(DescribeArray(a, &out).ok());
  a.within = Bytes(23);
  EXPECT_THAT(Refusal(a), HasSubstr("outside its buffer of 23 bytes"));
  strides = {-12, 4};
  a = Describe();
  a.within = Bytes(24);
  EXPECT_THAT(Refusal(a), HasSubstr("outside"));
  a.data = &values[3];
  EXPECT_TRUE(DescribeArray(a, &out).ok());
  shape = strides = {};
  a = Describe();
  a.within = Bytes(4);
  a.data = &values[5];
  EXPECT_THAT(Refusal(a), HasSubstr("outside"));
}

TEST_F(Array, NoElementsNeedNoMemory) {
  shape = {0, 3};
  ArrayDescription a = Describe();
  a.data = nullptr;
  a.within = absl::Span<const char>();
  ASSERT_TRUE(DescribeArray(a, &out).ok());
  EXPECT_EQ(out.nbytes, 0u);
  a.data = values.data();
  EXPECT_TRUE(DescribeArray(a, &out).ok()) << "nor do they lie anywhere";
}

TEST_F(Array, ElementsWithoutMemoryAndNegativeSizesAreRefused) {
  ArrayDescription a = Describe();
  a.data = nullptr;
  EXPECT_THAT(Refusal(a), HasSubstr("no data"));
  shape = {2, -3};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("negative"));
}

}  // namespace
}  // namespace dovetail
