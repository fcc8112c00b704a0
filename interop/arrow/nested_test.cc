// Lists of a fixed size and fixed shape tensors, both ways (rule 64).

#include <cstring>
#include <string>
#include <vector>

#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

constexpr ToArrowOptions kTensors = {.nesting = ArrowNesting::kFixedShapeTensor};

// What a tensor is exported to. A test may change a field before it imports it again.
class Nested : public testing::Test {
 protected:
  ArrowSchema schema = {};
  ArrowArray array = {};
  uint8_t bits = 0;

  void Export(const Tensor& tensor, const ToArrowOptions& options = {}) {
    const absl::Status status = ToArrow(tensor, &schema, &array, options);
    ASSERT_TRUE(status.ok()) << status;
  }
  absl::StatusOr<Tensor> Import() { return FromArrow(&schema, &array); }
  std::string Refusal() {
    const absl::Status status = Import().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(array.release, nullptr) << "taken, in failure too";
    return std::string(status.message());
  }
  // Why the type with these parameters is refused for lists of six elements.
  std::string RefusalOfType(const std::string& json) {
    Export(Iota({2, 6}));
    const std::string good = FixedShapeMetadata({.shape = {6}});
    const std::string parameters = R"({"shape":[6]})";
    std::string metadata = good.substr(0, good.size() - parameters.size() - sizeof(int32_t));
    const auto length = static_cast<int32_t>(json.size());
    metadata.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(json);
    schema.metadata = metadata.data();
    return Refusal();
  }
  static ArrowArray& Child(ArrowArray& lists) { return *lists.children[0]; }
  static ArrowSchema& Child(ArrowSchema& lists) { return *lists.children[0]; }
};

// Rule 64.
TEST_F(Nested, EachDimensionAfterTheFirstIsAListOfAFixedSize) {
  const Tensor x = Iota({2, 3, 4});
  Export(x);
  EXPECT_THAT(schema.format, StrEq("+w:3"));
  EXPECT_EQ(schema.metadata, nullptr);
  EXPECT_EQ(array.length, 2);
  EXPECT_EQ(array.n_buffers, 1);
  EXPECT_EQ(array.buffers[0], nullptr);
  EXPECT_THAT(Child(schema).format, StrEq("+w:4"));
  EXPECT_THAT(Child(schema).name, StrEq("item"));
  EXPECT_EQ(Child(array).length, 6);
  EXPECT_THAT(Child(Child(schema)).format, StrEq("f"));
  EXPECT_EQ(Child(Child(array)).length, 24);
  EXPECT_EQ(Child(Child(array)).buffers[1], x.raw_data());
  schema.release(&schema);
  array.release(&array);
}

// Rule 64.
TEST_F(Nested, ListsComeBackAsDimensionsOverTheSameMemory) {
  const Tensor x = Iota({2, 3, 4});
  Export(x);
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 3, 4));
  EXPECT_TRUE(back->is_contiguous());
  EXPECT_TRUE(back->is_read_only());
  EXPECT_EQ(back->raw_data(), x.raw_data());
  EXPECT_EQ(back->storage()->nbytes(), 96u);
}

TEST_F(Nested, FlatListsHaveAllElementsOfTheDimensionsAfterTheFirst) {
  const Tensor x = Iota({2, 3, 4});
  Export(x, {.nesting = ArrowNesting::kFlatLists});
  EXPECT_THAT(schema.format, StrEq("+w:12"));
  EXPECT_THAT(Child(schema).format, StrEq("f"));
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 12));
  EXPECT_EQ(back->raw_data(), x.raw_data());
}

TEST_F(Nested, EveryListIsReleasedOnce) {
  int released = 0;
  float values[6] = {};
  Export(*Tensor::Make(Storage::Adopt(values, sizeof(values), Device::Cpu(),
                                      {[](void* n) { ++*static_cast<int*>(n); }, &released}),
                       0, kFloat32, *Layout::Contiguous({1, 2, 3}), {}));
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(released, 0);
  back = Tensor();
  EXPECT_EQ(released, 1);
}

TEST_F(Nested, AChildThatWasMovedOutOutlivesItsList) {
  const Tensor x = Iota({2, 3});
  Export(x);
  ArrowArray child = Child(array);
  Child(array).release = nullptr;
  array.release(&array);
  ArrowSchema child_schema = Child(schema);
  Child(schema).release = nullptr;
  schema.release(&schema);
  absl::StatusOr<Tensor> back = FromArrow(&child_schema, &child);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(6));
  EXPECT_EQ(back->raw_data(), x.raw_data());
}

// Rule 64.
TEST_F(Nested, ASliceOfListsStartsAtItsElements) {
  const Tensor x = Iota({4, 3});
  Export(x);
  array.offset = 1;
  array.length = 2;
  Child(array).offset = 1;
  Child(array).length = 11;
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 3));
  EXPECT_EQ(**back->data<const float>(), 4) << "one list of three and one element";
  EXPECT_EQ(back->storage()->nbytes(), 24u);
}

TEST_F(Nested, ListsOfNothingAndNoListsAreTensorsWithoutElements) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{0, 3}, {3, 0}, {2, 0, 3}, {0, 0}, {0, 2, 3}}) {
    for (const ArrowNesting nesting : {ArrowNesting::kLists, ArrowNesting::kFixedShapeTensor}) {
      Export(Zeros(shape, kInt16), {.nesting = nesting});
      absl::StatusOr<Tensor> back = Import();
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->shape(), absl::MakeSpan(shape));
    }
  }
}

TEST_F(Nested, NullListsAreRefused) {
  Export(Iota({3, 2}));
  bits = 0b101;
  array.buffers[0] = &bits;
  array.null_count = -1;
  EXPECT_THAT(Refusal(), HasSubstr("1 of its 3 elements are null"));
}

TEST_F(Nested, OnlyNullsInsideTheListsCount) {
  for (const int64_t null_count : {int64_t{1}, int64_t{-1}}) {
    Export(Iota({3, 2}));
    bits = 0b111110;
    array.offset = 1;
    array.length = 2;
    Child(array).buffers[0] = &bits;
    Child(array).null_count = null_count;
    absl::StatusOr<Tensor> back = Import();
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(**back->data<const float>(), 2);
  }
  Export(Iota({3, 2}));
  bits = 0b111110;
  Child(array).buffers[0] = &bits;
  Child(array).null_count = -1;
  EXPECT_THAT(Refusal(), HasSubstr("1 of its 6 elements are null"));
}

TEST_F(Nested, AChildWithTooFewElementsIsRefused) {
  Export(Iota({3, 2}));
  Child(array).length = 5;
  EXPECT_THAT(Refusal(), HasSubstr("its lists have 6 elements, and the array of these 5"));
}

TEST_F(Nested, WrongPartsOfListsAreRefused) {
  Export(Iota({3, 2}));
  schema.format = "+w:-2";
  EXPECT_THAT(Refusal(), HasSubstr("is no list of a fixed size"));
  Export(Iota({3, 2}));
  array.n_children = 2;
  EXPECT_THAT(Refusal(), HasSubstr("2 children"));
  Export(Iota({3, 2}));
  array.n_buffers = 2;
  EXPECT_THAT(Refusal(), HasSubstr("2 buffers"));
  Export(Iota({3, 2}));
  schema.children = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("NULL"));
  Export(Iota({3, 2}));
  Child(array).offset = -1;
  EXPECT_THAT(Refusal(), HasSubstr("offset -1"));
  Export(Iota({3, 2}));
  array.length = INT64_MAX / 2 + 1;
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
}

TEST_F(Nested, ListsBeyondTheAddressSpaceAreRefusedBeforeTheirNullsAreCounted) {
  Export(Iota({3, 2}));
  bits = 0b101;
  array.buffers[0] = &bits;
  array.null_count = -1;
  array.offset = INT64_MAX;
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
}

TEST_F(Nested, AChildThatWasTakenIsRefused) {
  Export(Iota({3, 2}));
  Child(array).release(&Child(array));
  EXPECT_THAT(Refusal(), HasSubstr("already released"));
}

TEST_F(Nested, ListsWithoutEndAreRefused) {
  Export(Iota({1, 1}));
  ArrowArray* self = &array;
  ArrowSchema* self_schema = &schema;
  ArrowArray** children = std::exchange(array.children, &self);
  ArrowSchema** schema_children = std::exchange(schema.children, &self_schema);
  // (Imported as a copy, so that the parts go back as they were.)
  ArrowArray endless = array;
  endless.release = [](ArrowArray* released) { released->release = nullptr; };
  ArrowSchema endless_schema = schema;
  endless_schema.release = [](ArrowSchema* released) { released->release = nullptr; };
  EXPECT_THAT(FromArrow(&endless_schema, &endless).status().message(),
              HasSubstr("at most 64 dimensions"));
  array.children = children;
  schema.children = schema_children;
  array.release(&array);
  schema.release(&schema);
}

// Rule 64.
TEST_F(Nested, AFixedShapeTensorHasItsDimensionsInTheType) {
  const Tensor x = Iota({2, 3, 4});
  Export(x, kTensors);
  EXPECT_THAT(schema.format, StrEq("+w:12"));
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {3, 4}}));
  EXPECT_EQ(Child(array).buffers[1], x.raw_data());
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 3, 4));
  EXPECT_EQ(back->raw_data(), x.raw_data());
}

// Rule 64. The specification's example has the shape (100, 200, 500) and the permutation (2, 0, 1)
// for tensors of shape (500, 100, 200).
TEST_F(Nested, APermutationOrdersTheDimensionsAsTheSpecificationSays) {
  const Tensor x = Iota({2, 1, 2, 5});
  Export(x, kTensors);
  const std::string metadata = FixedShapeMetadata({.shape = {1, 2, 5}, .permutation = {2, 0, 1}});
  schema.metadata = metadata.data();
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 5, 1, 2));
  EXPECT_THAT(back->layout().strides(), ElementsAre(10, 1, 10, 5));
}

// Rule 64.
TEST_F(Nested, EveryOrderOfDimensionsGoesThereAndBack) {
  const std::vector<std::vector<int64_t>> orders = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3},
                                                    {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}};
  for (const std::vector<int64_t>& order : orders) {
    const Tensor x = *Iota({2, 3, 4, 5}).Permute(order);
    Export(x, kTensors);
    absl::StatusOr<Tensor> back = Import();
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->layout(), x.layout());
    EXPECT_EQ(back->raw_data(), x.raw_data());
  }
}

TEST_F(Nested, DimensionsOfOneNeedNoOrder) {
  const Tensor x = *Iota({2, 4, 1}).Permute({0, 2, 1});
  Export(x, kTensors);
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {1, 4}}));
  EXPECT_TRUE(Import().ok());
}

TEST_F(Nested, ARowOfNumbersIsTensorsWithoutDimensions) {
  Export(Iota({3}), kTensors);
  EXPECT_THAT(schema.format, StrEq("+w:1"));
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(3));
}

TEST_F(Nested, GapsAreRefusedWithTheRemedy) {
  const Tensor x = Iota({4, 6});
  const Tensor gaps[] = {*x.Slice(1, {.start = 1}), *x.Slice(0, {.step = 2}), *x.Permute({1, 0}),
                         *x.Slice(1, {.step = 2}), *x.Slice(0, {.step = -1})};
  for (const Tensor& gap : gaps) {
    for (const ArrowNesting nesting : {ArrowNesting::kLists, ArrowNesting::kFixedShapeTensor}) {
      const absl::Status status = ToArrow(gap, &schema, &array, {.nesting = nesting});
      EXPECT_THAT(status.message(), HasSubstr("contiguous()"));
      EXPECT_EQ(array.release, nullptr);
    }
  }
}

TEST_F(Nested, ParametersThatMakeNoShapeAreRefused) {
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,4]})"), HasSubstr("no lists of as many elements"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,-3]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[6.0]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":6})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[18446744073709551615]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[4294967296,4294967296,6]})"), HasSubstr("no lists of as"));
  EXPECT_THAT(RefusalOfType(R"({"shape":)" + std::string(100000, '[')), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(R"({})"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(""), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType("[]"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType("\xff"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[0]})"), HasSubstr("below 2"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[0,0]})"), HasSubstr("below 2"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[1,2]})"), HasSubstr("below 2"));
}

TEST_F(Nested, NamesOfDimensionsAreRefusedBecauseATensorWouldLoseThem) {
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"dim_names":["H","W"]})"),
              HasSubstr("take them off first"));
}

TEST_F(Nested, ParametersBesideTheKnownOnesAreNoError) {
  const std::string metadata = FixedShapeMetadata({.shape = {2, 3}});
  Export(Iota({1, 6}));
  schema.metadata = metadata.data();
  EXPECT_THAT(Import()->shape(), ElementsAre(1, 2, 3));
  const auto refusal = RefusalOfType(R"({"shape":[2,4],"later":{"a":[1]}})");
  EXPECT_THAT(refusal, HasSubstr("no lists of as many elements")) << "read up to the shape";
}

TEST_F(Nested, MetadataOfNegativeLengthAreRefused) {
  std::string metadata = FixedShapeMetadata({.shape = {6}});
  const int32_t negative = -1;
  std::memcpy(metadata.data() + sizeof(int32_t), &negative, sizeof(negative));
  Export(Iota({1, 6}));
  schema.metadata = metadata.data();
  EXPECT_THAT(Refusal(), HasSubstr("negative length"));
}

}  // namespace
}  // namespace dovetail
