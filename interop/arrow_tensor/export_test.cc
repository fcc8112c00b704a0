#include "dovetail/interop/arrow_tensor/export.h"

#include <memory>
#include <string>
#include <thread>

#include "arrow/extension/fixed_shape_tensor.h"
#include "dovetail/interop/arrow/format_table.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using internal_arrow_tensor::kTypes;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Refusal(const Tensor& tensor) {
  const auto made = AsArrowTensor(tensor);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(made.status().message());
}

TEST(ArrowTensorTypes, AreThoseOfArrowsFormatsAndOfItsTensors) {
  for (const auto& pair : kTypes) {
    EXPECT_TRUE(arrow::is_tensor_supported(pair.id));
    EXPECT_EQ(pair.type()->id(), pair.id);
    EXPECT_TRUE(ArrowFromDType(pair.dtype).ok());
  }
  size_t supported = 0;
  for (int id = 0; id < arrow::Type::MAX_ID; ++id) {
    supported += arrow::is_tensor_supported(static_cast<arrow::Type::type>(id)) ? 1 : 0;
  }
  EXPECT_EQ(supported, std::size(kTypes));
}

TEST(AsArrowTensor, SharesTheMemory) {
  for (const auto& pair : kTypes) {
    const Tensor x = Zeros({2, 3}, pair.dtype);
    const auto made = AsArrowTensor(x);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ((*made)->raw_data(), x.raw_data());
    EXPECT_THAT((*made)->shape(), ElementsAre(2, 3));
    EXPECT_EQ((*made)->type_id(), pair.id);
    EXPECT_TRUE((*made)->Validate().ok());
    EXPECT_TRUE((*made)->is_row_major());
    EXPECT_TRUE((*made)->is_mutable());
  }
}

TEST(AsArrowTensor, KeepsStridesAndOffset) {
  const Tensor x = Iota({4, 6});
  const Tensor view = *x.Slice(1, {.start = 1, .step = 2})->Permute({1, 0});
  const auto made = AsArrowTensor(view);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)->Validate().ok());
  EXPECT_THAT((*made)->strides(), ElementsAre(8, 24));
  EXPECT_EQ((*made)->Value<arrow::FloatType>({2, 3}), 23);
}

TEST(AsArrowTensor, HoldsTheMemoryUntilItsLastBufferIsGone) {
  const Tensor x = Iota({2, 3});
  auto made = AsArrowTensor(x);
  EXPECT_EQ(x.storage()->use_count(), 2);
  std::shared_ptr<arrow::Buffer> part = arrow::SliceBuffer((*made)->data(), 4, 4);
  *made = nullptr;
  EXPECT_EQ(x.storage()->use_count(), 2);
  std::thread([&] { part = nullptr; }).join();
  EXPECT_EQ(x.storage()->use_count(), 1);
}

TEST(AsArrowTensor, OfReadOnlyMemoryIsNotMutable) {
  const auto made = AsArrowTensor(Iota({2, 3}).ReadOnly());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE((*made)->is_mutable());
}

TEST(AsArrowTensor, EmptyAndScalarAndBroadcastTensorsAreTaken) {
  for (const Tensor& x : {Iota({0, 3}), Iota({}), *Iota({1, 3}).BroadcastTo({4, 3})}) {
    const auto made = AsArrowTensor(x);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE((*made)->Validate().ok()) << (*made)->Validate().ToString();
    EXPECT_EQ((*made)->size(), x.num_elements());
  }
}

TEST(AsArrowTensor, StridesThatNoElementIsReachedByDoNotMatter) {
  std::vector<float> values(6);
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const int64_t unused : {int64_t{-3}, int64_t{-kHuge}, kHuge, int64_t{0}}) {
    const Tensor one =
        *Tensor::Wrap(values.data(), {2, 1, 3}, {3, unused, 1}, Device::Cpu(), [] {});
    auto made = AsArrowTensor(one);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_EQ((*made)->raw_data(), one.raw_data());
    EXPECT_THAT((*made)->shape(), ElementsAre(2, 1, 3));
    EXPECT_THAT((*made)->strides(), ElementsAre(12, testing::Ge(0), 4));
    EXPECT_TRUE((*made)->Validate().ok()) << (*made)->Validate().ToString();
    const Tensor none =
        *Tensor::Wrap(values.data(), {2, 0, 3}, {unused, 1, unused}, Device::Cpu(), [] {});
    made = AsArrowTensor(none);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_THAT((*made)->strides(), testing::Each(testing::Ge(0)));
    EXPECT_TRUE((*made)->Validate().ok()) << (*made)->Validate().ToString();
  }
}

TEST(AsArrowTensor, RefusesWithTheRemedy) {
  EXPECT_THAT(Refusal(Tensor()), HasSubstr("null"));
  EXPECT_THAT(Refusal(*Iota({4}).Slice(0, {.step = -1})), HasSubstr("Copied(tensor)"));
  EXPECT_THAT(Refusal(Zeros({2}, kBFloat16)), HasSubstr(".dtype = kFloat32"));
  EXPECT_THAT(Refusal(Zeros({2}, kBool)), HasSubstr("element type"));
  EXPECT_THAT(Refusal(Zeros({2}, kFloat32, Device::Cuda(0))), HasSubstr("Device::Cpu()"));
}

TEST(AsArrowArray, OfNumbersSharesTheMemory) {
  const Tensor x = Iota({5});
  const auto made = AsArrowArray(x);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)->ValidateFull().ok());
  EXPECT_EQ((*made)->data()->buffers[1]->data(), x.raw_data());
  EXPECT_TRUE((*made)->type()->Equals(arrow::float32()));
}

TEST(AsArrowArray, OfSeveralDimensionsIsListsOfLists) {
  const auto made = AsArrowArray(Iota({2, 3, 4}));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)->ValidateFull().ok());
  const auto expected = arrow::fixed_size_list(arrow::fixed_size_list(arrow::float32(), 4), 3);
  EXPECT_TRUE((*made)->type()->Equals(expected)) << (*made)->type()->ToString();
}

TEST(AsArrowArray, IsFixedShapeTensorsWhereThatIsAskedFor) {
  const Tensor x = Iota({2, 3, 4});
  const auto made = AsArrowArray(x, {.nesting = ArrowNesting::kFixedShapeTensor});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto* tensors = dynamic_cast<const arrow::extension::FixedShapeTensorArray*>(made->get());
  ASSERT_NE(tensors, nullptr) << (*made)->type()->ToString();
  const auto whole = tensors->ToTensor();
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  EXPECT_THAT((*whole)->shape(), ElementsAre(2, 3, 4));
  EXPECT_EQ((*whole)->raw_data(), x.raw_data());
}

TEST(AsArrowArray, RefusesWhatToArrowRefuses) {
  EXPECT_THAT(AsArrowArray(*Iota({4}).Slice(0, {.step = 2})).status().message(),
              HasSubstr("contiguous()"));
}

}  // namespace
}  // namespace dovetail
