// Lists of a fixed size, both ways (rule 64).

#include <string>
#include <utility>
#include <vector>

#include "dovetail/interop/arrow/nested_fixture.h"
#include "gmock/gmock.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

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

TEST_F(Nested, NullsWithoutTheirBitsAreRefusedUnlessNoElementIsTaken) {
  for (const int64_t length : {2, 0}) {
    Export(Iota({3, 2}));
    array.length = length;
    Child(array).null_count = 1;
    if (length == 0) {
      EXPECT_TRUE(Import().ok());
    } else {
      EXPECT_THAT(Refusal(), HasSubstr("1 nulls but no validity bits"));
    }
  }
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
  EXPECT_THAT(Refusal(), HasSubstr("a list of a fixed size, but it has 2 children"));
  Export(Iota({3, 2}));
  array.n_buffers = 2;
  EXPECT_THAT(Refusal(), HasSubstr("2 buffers, and an array of lists has 1"));
  Export(Iota({3, 2}));
  array.children[0] = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("NULL"));
  Export(Iota({3, 2}));
  schema.children = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("NULL"));
  Export(Iota({3, 2}));
  Child(array).offset = -1;
  EXPECT_THAT(Refusal(), HasSubstr("offset is -1"));
}

TEST_F(Nested, MoreElementsThanCanBeCountedAreRefused) {
  constexpr int64_t kMany = int64_t{1} << 62;
  Export(Iota({3, 4}));
  array.length = kMany;  // four times as many are 0, modulo 2^64
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
  Export(Iota({3, 4}));
  array.length = 1;
  array.offset = kMany;
  EXPECT_THAT(Refusal(), HasSubstr("beyond the address space"));
  Export(Zeros({1, 2, 0}, kInt16));
  array.offset = array.length = kMany / 2;
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

}  // namespace
}  // namespace dovetail
