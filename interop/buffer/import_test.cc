#include "dovetail/interop/buffer/import.h"

#include <array>
#include <string>
#include <vector>

#include "dovetail/core/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Refusal(const BufferDescription& buffer) {
  BufferLayout out;
  out.nbytes = 77;
  absl::Status status = DescribeBuffer(buffer, &out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out.nbytes, 77u) << "filled in spite of the error";
  return std::string(status.message());
}

class Buffer : public testing::Test {
 protected:
  std::array<int32_t, 12> ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<int64_t> shape = {3, 4};
  std::vector<int64_t> strides = {16, 4};
  BufferLayout out;

  BufferDescription Describe() {
    return {.data = ints.data(),
            .nbytes = 48,
            .itemsize = 4,
            .format = "i",
            .ndim = static_cast<int>(shape.size()),
            .shape = shape.data(),
            .strides = strides.data()};
  }
};

TEST_F(Buffer, ARowMajorBufferIsDescribedAsItIs) {
  ASSERT_TRUE(DescribeBuffer(Describe(), &out).ok());
  EXPECT_EQ(out.dtype, kInt32);
  EXPECT_THAT(out.layout.shape(), ElementsAre(3, 4));
  EXPECT_THAT(out.layout.strides(), ElementsAre(4, 1));
  EXPECT_EQ(out.access, Access::kReadWrite);
  EXPECT_EQ(out.data, ints.data());
  EXPECT_EQ(out.nbytes, 48u);
  EXPECT_EQ(out.byte_offset, 0);
}

// Rule 60.
TEST_F(Buffer, NegativeStridesReachDownFromElement0) {
  strides = {-16, 4};
  BufferDescription b = Describe();
  b.data = &ints[8];
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_THAT(out.layout.strides(), ElementsAre(-4, 1));
  EXPECT_EQ(out.data, ints.data());
  EXPECT_EQ(out.nbytes, 48u);
  EXPECT_EQ(out.byte_offset, 32);
  absl::StatusOr<Tensor> t = Tensor::Make(Storage::Adopt(out.data, out.nbytes, Device::Cpu(), {}),
                                          out.byte_offset, out.dtype, out.layout, {});
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(**t->data<int32_t>(), 8);
}

// Rule 60.
TEST_F(Buffer, ReadOnlyIsKept) {
  BufferDescription b = Describe();
  b.read_only = true;
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_EQ(out.access, Access::kReadOnly);
}

TEST_F(Buffer, WithoutStridesItIsRowMajor) {
  BufferDescription b = Describe();
  b.strides = nullptr;
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_THAT(out.layout.strides(), ElementsAre(4, 1));
}

// Rule 60.
TEST_F(Buffer, ARowHasItsShapeAndStrides) {
  shape = {6};
  strides = {8};
  BufferDescription b = Describe();
  b.nbytes = 24;
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_THAT(out.layout.shape(), ElementsAre(6));
  EXPECT_THAT(out.layout.strides(), ElementsAre(2));
}

TEST_F(Buffer, WithoutShapeItIsARowWhateverTheStrides) {
  BufferDescription b = Describe();
  b.ndim = 1;
  b.shape = nullptr;
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_THAT(out.layout.shape(), ElementsAre(12));
  EXPECT_THAT(out.layout.strides(), ElementsAre(1));
}

TEST_F(Buffer, WithoutShapeAndFormatItIsARowOfBytes) {
  BufferDescription b{.data = ints.data(), .nbytes = 48};
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_EQ(out.dtype, kUInt8);
  EXPECT_THAT(out.layout.shape(), ElementsAre(48));
  b.ndim = 2;
  EXPECT_THAT(Refusal(b), HasSubstr("no shape"));
}

TEST_F(Buffer, RankZeroIsOneElementWithoutShape) {
  BufferDescription b{.data = &ints[5], .nbytes = 4, .itemsize = 4, .format = "i", .ndim = 0};
  ASSERT_TRUE(DescribeBuffer(b, &out).ok());
  EXPECT_EQ(out.layout.rank(), 0);
  EXPECT_EQ(out.data, &ints[5]);
  EXPECT_EQ(out.nbytes, 4u);
}

// Rule 60.
TEST_F(Buffer, StridesOfWholeElementsOnly) {
  strides = {18, 4};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("stride of 18 bytes is not a multiple of the 4"));
}

TEST_F(Buffer, StridesThatMeanNothingMayBeAnything) {
  shape = {1, 12};
  strides = {7, 4};
  ASSERT_TRUE(DescribeBuffer(Describe(), &out).ok());
  EXPECT_EQ(out.layout.stride(1), 1);
  EXPECT_EQ(out.nbytes, 48u);
  shape = {0, 5};
  strides = {3, INT64_MAX};
  BufferDescription empty = Describe();
  empty.nbytes = 0;
  empty.data = nullptr;
  ASSERT_TRUE(DescribeBuffer(empty, &out).ok());
  EXPECT_EQ(out.layout.num_elements(), 0);
  EXPECT_EQ(out.data, nullptr);
  EXPECT_EQ(out.nbytes, 0u);
}

// Rule 60.
TEST_F(Buffer, SuboffsetsAreRefused) {
  BufferDescription b = Describe();
  b.has_suboffsets = true;
  EXPECT_THAT(Refusal(b), HasSubstr("suboffsets"));
}

TEST_F(Buffer, ContradictionsAreRefused) {
  BufferDescription b = Describe();
  b.nbytes = 44;
  EXPECT_THAT(Refusal(b), HasSubstr("44 bytes"));
  b = Describe();
  b.itemsize = 8;
  EXPECT_THAT(Refusal(b), HasSubstr("itemsize of 8"));
  b = Describe();
  b.data = nullptr;
  EXPECT_THAT(Refusal(b), HasSubstr("no data"));
  shape = {3, -4};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("negative size"));
  shape = {INT64_MAX, 4};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("(9223372036854775807, 4)"));
  shape = {3, 4};
  strides = {INT64_MAX / 4 * 4, 4};
  EXPECT_THAT(Refusal(Describe()), HasSubstr("64-bit"));
  shape = {int64_t{1} << 62};  // of 4 bytes each, at one place
  strides = {0};
  b = Describe();
  b.nbytes = 0;
  EXPECT_THAT(Refusal(b), HasSubstr("0 bytes"));
}

TEST_F(Buffer, ImpossibleRanksAreRefusedBeforeAnythingIsRead) {
  for (int ndim : {-1, 65, 1000000}) {
    BufferDescription b = Describe();
    b.ndim = ndim;
    EXPECT_THAT(Refusal(b), HasSubstr(std::to_string(ndim)));
  }
}

TEST_F(Buffer, ARowOfBytesThatIsNoWholeNumberOfElementsIsRefused) {
  BufferDescription b{.data = ints.data(), .nbytes = 46, .itemsize = 4, .format = "i"};
  EXPECT_THAT(Refusal(b), HasSubstr("46 bytes"));
}

}  // namespace
}  // namespace dovetail
