#include "dovetail/interop/arrow/export.h"

#include <string>
#include <thread>

#include "dovetail/core/testing/failing_new.h"
#include "dovetail/interop/arrow/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;
using testing::StrEq;

class ArrowExport : public testing::Test {
 protected:
  int32_t values[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  ArrowSchema schema = {};
  ArrowArray array = {};

  Tensor Make(absl::Span<const int64_t> shape, DType dtype = kInt32) {
    return *Tensor::Make(
        Storage::Adopt(values, sizeof(values), Device::Cpu(),
                       {[](void* count) { ++*static_cast<int*>(count); }, &released}),
        0, dtype, *Layout::Contiguous(shape), {});
  }
  std::string Refusal(const Tensor& tensor) {
    absl::Status status = ToArrow(tensor, &schema, &array);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(schema.release, nullptr) << "left as it was";
    EXPECT_EQ(array.release, nullptr) << "left as it was";
    return std::string(status.message());
  }
};

// Rule 62.
TEST_F(ArrowExport, SharesTheElementsUntilReleased) {
  ASSERT_TRUE(ToArrow(*Make({6}).Slice(0, {.start = 2}), &schema, &array).ok());
  EXPECT_THAT(schema.format, StrEq("i"));
  EXPECT_THAT(schema.name, StrEq(""));
  EXPECT_EQ(schema.flags, 0) << "no element can be null";
  EXPECT_EQ(schema.n_children, 0);
  EXPECT_EQ(schema.dictionary, nullptr);
  EXPECT_EQ(array.length, 4);
  EXPECT_EQ(array.null_count, 0);
  EXPECT_EQ(array.offset, 0);
  EXPECT_EQ(array.n_buffers, 2);
  EXPECT_EQ(array.buffers[0], nullptr);
  EXPECT_EQ(array.buffers[1], &values[2]);
  EXPECT_EQ(array.n_children, 0);
  EXPECT_EQ(array.dictionary, nullptr);
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_EQ(released, 0);
  array.release(&array);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(released, 1);
}

TEST_F(ArrowExport, AMovedArrayIsReleasedInItsNewPlaceAndOnAnyThread) {
  ASSERT_TRUE(ToArrow(Make({6}), &schema, &array).ok());
  ArrowArray moved = array;
  array.release = nullptr;
  std::thread([&] { moved.release(&moved); }).join();
  EXPECT_EQ(moved.release, nullptr);
  EXPECT_EQ(released, 1);
}

TEST_F(ArrowExport, ComesBackAsAReadOnlyTensorOverTheSameMemory) {
  ASSERT_TRUE(ToArrow(Make({6}), &schema, &array).ok());
  absl::StatusOr<Tensor> back = FromArrow(&schema, &array);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->raw_data(), values);
  EXPECT_TRUE(back->is_read_only());
  EXPECT_EQ(released, 0);
  *back = Tensor();
  EXPECT_EQ(released, 1);
}

TEST_F(ArrowExport, ReadOnlyTensorsAreExportedToo) {
  ASSERT_TRUE(ToArrow(Make({6}).ReadOnly(), &schema, &array).ok());
  array.release(&array);
}

TEST_F(ArrowExport, OneElementIsDenseWhateverItsStride) {
  const Tensor one = *Make({6}).Slice(0, {.start = 1, .step = 9});
  ASSERT_TRUE(ToArrow(one, &schema, &array).ok());
  EXPECT_EQ(array.length, 1);
  EXPECT_EQ(array.buffers[1], &values[1]);
  array.release(&array);
}

TEST_F(ArrowExport, NoElementsAreAnArrayToo) {
  ASSERT_TRUE(ToArrow(Make({0}), &schema, &array).ok());
  EXPECT_EQ(array.length, 0);
  array.release(&array);
  EXPECT_EQ(released, 1);
}

// Rule 62.
TEST_F(ArrowExport, ATensorWithoutDimensionsIsRefusedWithTheRemedy) {
  EXPECT_THAT(Refusal(Make({})), AllOf(HasSubstr("0 dimensions"), HasSubstr("reshape(-1)")));
}

TEST_F(ArrowExport, GapsAreRefusedWithTheRemedy) {
  EXPECT_THAT(Refusal(*Make({6}).Slice(0, {.step = 2})), HasSubstr("contiguous()"));
  EXPECT_THAT(Refusal(*Make({6}).Slice(0, {.step = -1})), HasSubstr("contiguous()"));
}

TEST_F(ArrowExport, TypesThatArrowLacksAreRefused) {
  EXPECT_THAT(Refusal(Make({6}, kBool)), HasSubstr("single bits"));
  EXPECT_THAT(Refusal(Make({6}, kBFloat16)), HasSubstr("bfloat16"));
  EXPECT_THAT(Refusal(Make({2, 3}, kBool)), HasSubstr("single bits"));
}

TEST_F(ArrowExport, MisalignedElementsAreSharedWhereTheyLie) {
  const Tensor t = *Tensor::Make(Make({6}).storage(), 2, kInt32, *Layout::Contiguous({5}), {});
  ASSERT_TRUE(ToArrow(t, &schema, &array).ok());
  EXPECT_EQ(array.buffers[1], reinterpret_cast<char*>(values) + 2);
  array.release(&array);
}

TEST_F(ArrowExport, ANullTensorIsRefused) {
  EXPECT_EQ(ToArrow(Tensor(), &schema, &array).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ArrowExport, RunningOutOfMemoryLeavesTheTensorAlone) {
  for (const Tensor& tensor : {Make({6}), Make({1, 2, 3})}) {
    for (const ArrowNesting nesting : {ArrowNesting::kLists, ArrowNesting::kFixedShapeTensor}) {
      ForEachAllocationFailure(
          [&] {
            array.release = nullptr;
            if (!ToArrow(tensor, &schema, &array, {.nesting = nesting}).ok()) return;
            array.release(&array);
            schema.release(&schema);
          },
          [&] {
            EXPECT_EQ(array.release, nullptr);
            EXPECT_EQ(tensor.storage()->use_count(), 1);
          });
    }
  }
}

}  // namespace
}  // namespace dovetail
