#include "dovetail/interop/arrow_tensor/import.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/array/builder_nested.h"
#include "arrow/array/builder_primitive.h"
#include "arrow/extension/fixed_shape_tensor.h"
#include "dovetail/interop/arrow_tensor/export.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Twelve floats, and how often they were freed.
struct Numbers {
  std::vector<float> values = std::vector<float>(12);
  int freed = 0;

  // A buffer of them.
  std::shared_ptr<arrow::Buffer> Buffer(bool is_mutable = true) {
    auto* data = reinterpret_cast<uint8_t*>(values.data());
    auto* buffer = is_mutable ? new arrow::MutableBuffer(data, 48) : new arrow::Buffer(data, 48);
    return std::shared_ptr<arrow::Buffer>(buffer, [this](arrow::Buffer* last) {
      ++freed;
      delete last;
    });
  }
};

std::shared_ptr<arrow::Tensor> Make(std::shared_ptr<arrow::Buffer> buffer,
                                    const std::vector<int64_t>& shape,
                                    const std::vector<int64_t>& strides = {},
                                    const std::vector<std::string>& names = {}) {
  return *arrow::Tensor::Make(arrow::float32(), buffer, shape, strides, names);
}

std::string Refusal(std::shared_ptr<arrow::Tensor> x) {
  const absl::Status status = FromArrowTensor(std::move(x)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(FromArrowTensor, SharesTheMemoryAndHoldsTheBuffer) {
  Numbers numbers;
  absl::StatusOr<Tensor> x = FromArrowTensor(Make(numbers.Buffer(), {3, 4}));
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->raw_data(), numbers.values.data());
  EXPECT_THAT(x->shape(), ElementsAre(3, 4));
  EXPECT_EQ(x->dtype(), kFloat32);
  EXPECT_FALSE(x->is_read_only());
  EXPECT_EQ(numbers.freed, 0);
  *x = Tensor();
  EXPECT_EQ(numbers.freed, 1);
}

TEST(FromArrowTensor, KeepsStrides) {
  Numbers numbers;
  absl::StatusOr<Tensor> x = FromArrowTensor(Make(numbers.Buffer(), {3, 4}, {4, 12}));
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_THAT(x->strides(), ElementsAre(1, 3));
}

TEST(FromArrowTensor, IsReadOnlyIfTheBufferOrTheTensorIs) {
  Numbers numbers;
  EXPECT_TRUE(FromArrowTensor(Make(numbers.Buffer(false), {12}))->is_read_only());
  std::shared_ptr<const arrow::Tensor> constant = Make(numbers.Buffer(), {12});
  EXPECT_TRUE(FromArrowTensor(constant)->is_read_only());
  EXPECT_TRUE(ViewOf(*constant)->is_read_only());
}

TEST(FromArrowTensor, ComesBackAsItWentOut) {
  const Tensor x = Iota({3, 4}).Permute({1, 0})->ReadOnly();
  absl::StatusOr<Tensor> back = FromArrowTensor(*AsArrowTensor(x));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->raw_data(), x.raw_data());
  EXPECT_EQ(back->layout(), x.layout());
  EXPECT_TRUE(back->is_read_only());
  EXPECT_EQ(x.storage()->use_count(), 2);
}

TEST(FromArrowTensor, ViewsHoldNothing) {
  Numbers numbers;
  std::shared_ptr<arrow::Tensor> x = Make(numbers.Buffer(), {12});
  absl::StatusOr<Tensor> view = ViewOf(*x);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->raw_data(), numbers.values.data());
  EXPECT_EQ(x.use_count(), 1);
}

TEST(FromArrowTensor, EmptyAndScalarTensorsAreTaken) {
  Numbers numbers;
  EXPECT_THAT(FromArrowTensor(Make(numbers.Buffer(), {0, 3}))->shape(), ElementsAre(0, 3));
  EXPECT_EQ(FromArrowTensor(Make(numbers.Buffer(), {}))->rank(), 0);
}

TEST(FromArrowTensor, StridesThatNoElementIsReachedByDoNotMatter) {
  std::vector<float> values(6);
  const auto buffer = arrow::Buffer::Wrap(values);
  const auto one = std::make_shared<arrow::Tensor>(
      arrow::float32(), buffer, std::vector<int64_t>{2, 1, 3}, std::vector<int64_t>{12, 7, 4});
  absl::StatusOr<Tensor> x = FromArrowTensor(one);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->raw_data(), values.data());
  EXPECT_EQ(x->strides()[0], 3);
  EXPECT_EQ(x->strides()[2], 1);
  const auto none = std::make_shared<arrow::Tensor>(
      arrow::float32(), buffer, std::vector<int64_t>{2, 0, 3}, std::vector<int64_t>{13, 7, 5});
  x = FromArrowTensor(none);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_THAT(x->shape(), ElementsAre(2, 0, 3));
  const auto used = std::make_shared<arrow::Tensor>(
      arrow::float32(), buffer, std::vector<int64_t>{2, 1}, std::vector<int64_t>{7, 4});
  EXPECT_FALSE(FromArrowTensor(used).ok());
}

TEST(FromArrowTensor, RefusesWithTheRemedyAndFreesTheBuffer) {
  Numbers numbers;
  EXPECT_THAT(Refusal(nullptr), HasSubstr("nullptr"));
  EXPECT_THAT(Refusal(Make(numbers.Buffer(), {3, 4}, {}, {"H", "W"})),
              HasSubstr("x->data(), x->shape()"));
  EXPECT_THAT(Refusal(Make(numbers.Buffer(), {2}, {5})), HasSubstr("stride of 5 bytes"));
  EXPECT_THAT(Refusal(std::make_shared<arrow::Tensor>(arrow::float32(), numbers.Buffer(),
                                                      std::vector<int64_t>{13})),
              HasSubstr("beyond its buffer of 48 bytes"));
  EXPECT_THAT(
      Refusal(std::make_shared<arrow::Tensor>(arrow::float32(), numbers.Buffer(),
                                              std::vector<int64_t>{2}, std::vector<int64_t>{-4})),
      HasSubstr("beyond its buffer of 48 bytes"));
  EXPECT_THAT(
      Refusal(std::make_shared<arrow::Tensor>(arrow::float32(), nullptr, std::vector<int64_t>{13})),
      HasSubstr("no buffer"));
  EXPECT_EQ(numbers.freed, 4);
}

TEST(FromArrowArray, OfNumbersSharesTheMemory) {
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendValues({1, 2, 3, 4}).ok());
  std::shared_ptr<arrow::Array> array = *builder.Finish();
  absl::StatusOr<Tensor> x = FromArrowArray(*array->Slice(1, 2));
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->raw_data(), array->data()->GetValues<int32_t>(1) + 1);
  array = nullptr;
  EXPECT_THAT(*x->span<const int32_t>(), ElementsAre(2, 3));
}

TEST(FromArrowArray, OfNullsIsRefusedWithTheRemedy) {
  arrow::Int32Builder builder;
  ASSERT_TRUE(builder.AppendNulls(2).ok());
  EXPECT_THAT(FromArrowArray(**builder.Finish()).status().message(), HasSubstr("2 of its 2"));
}

TEST(FromArrowArray, OfListsAndOfTensorsHasSeveralDimensions) {
  const Tensor x = Iota({2, 3, 4});
  for (const ArrowNesting nesting : {ArrowNesting::kLists, ArrowNesting::kFixedShapeTensor}) {
    const auto array = AsArrowArray(x, {.nesting = nesting});
    ASSERT_TRUE(array.ok()) << array.status();
    absl::StatusOr<Tensor> back = FromArrowArray(**array);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->raw_data(), x.raw_data());
    EXPECT_THAT(back->shape(), ElementsAre(2, 3, 4));
  }
}

TEST(FromArrowArray, OfTensorsThatArrowMadeIsTaken) {
  Numbers numbers;
  const auto array =
      arrow::extension::FixedShapeTensorArray::FromTensor(Make(numbers.Buffer(), {2, 2, 3}));
  ASSERT_TRUE(array.ok()) << array.status().ToString();
  absl::StatusOr<Tensor> x = FromArrowArray(**array);
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_EQ(x->raw_data(), numbers.values.data());
  EXPECT_THAT(x->shape(), ElementsAre(2, 2, 3));
}

}  // namespace
}  // namespace dovetail
