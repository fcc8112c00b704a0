// Tests of Wrap, which makes a tensor of the program's own memory, and of span, at and elements.

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Wrap, AVectorIsMovedWithoutACopy) {
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const float* const memory = values.data();
  const Tensor t = *Tensor::Wrap(std::move(values), {2, 3});
  EXPECT_EQ(*t.data<float>(), memory);
  EXPECT_THAT(t.shape(), ElementsAre(2, 3));
  EXPECT_THAT(t.strides(), ElementsAre(3, 1));
  EXPECT_EQ(t.storage()->nbytes(), 24);
  EXPECT_FALSE(t.is_read_only());
  const Tensor row = *t.Select(0, 1);
  EXPECT_THAT(*row.span<const float>(), ElementsAre(3, 4, 5));
}

TEST(Wrap, AVectorOfAnotherSizeIsRefusedAndStaysUnchanged) {
  std::vector<int32_t> values = {1, 2, 3};
  const absl::Status status = Tensor::Wrap(std::move(values), {2, 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("3 elements, and the shape (2, 2) has 4"));
  EXPECT_THAT(values, ElementsAre(1, 2, 3));  // NOLINT(bugprone-use-after-move)
}

TEST(Wrap, AnEmptyVectorMakesAnEmptyTensor) {
  EXPECT_EQ(Tensor::Wrap(std::vector<double>(), {0, 4})->num_elements(), 0);
}

TEST(Wrap, ASharedPointerToTheOwnerIsHeldUntilTheLastReferenceGoes) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> alive = owner;
  Tensor t = *Tensor::Wrap(owner->data() + 1, {3}, owner);
  owner.reset();
  const Tensor view = *t.Slice(0, {.start = 1});
  t = Tensor();
  EXPECT_THAT(*view.span<const float>(), ElementsAre(3, 4));
  EXPECT_FALSE(alive.expired());
}

TEST(Wrap, ARefusedShapeLeavesTheOwnerAlone) {
  auto owner = std::make_shared<int>(7);
  EXPECT_FALSE(Tensor::Wrap(owner.get(), {-1}, owner).ok());
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Borrow, AVectorAndAPointerAreSharedAndNotFreed) {
  std::vector<float> values = {1, 2, 3, 4};
  {
    const Tensor t = *Tensor::Borrow(values, {2, 2});
    (*t.span<float>())[3] = 9;
    const Tensor first = *Tensor::Borrow(values.data(), {2});
    EXPECT_EQ(*first.data<float>(), values.data());
  }
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 9));
  EXPECT_EQ(Tensor::Borrow(values, {3}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Borrow, WhatIsConstIsReadOnly) {
  const std::vector<int32_t> values = {1, 2};
  EXPECT_TRUE(Tensor::Borrow(values, {2})->is_read_only());
  EXPECT_TRUE(Tensor::Borrow(values.data(), {2})->is_read_only());
}

// What has no keeper is no Wrap: the compiler names the deleted function, and no candidates.
template <typename... Args>
concept CanWrap = requires(Args... args) { Tensor::Wrap(args..., {2}); };
static_assert(!CanWrap<std::vector<float>&> && !CanWrap<float*>);
template <typename Vector>
concept CanBorrow =
    requires(Vector&& values) { Tensor::Borrow(std::forward<Vector>(values), {2}); };
static_assert(CanBorrow<std::vector<float>&> && CanBorrow<const std::vector<float>&>);
static_assert(!CanBorrow<std::vector<float>> && !CanBorrow<const std::vector<float>>);

TEST(Wrap, AnArrayIsFreedWithItsLastReference) {
  auto values = std::make_unique<std::complex<float>[]>(4);
  auto* const memory = values.get();
  Tensor t = *Tensor::Wrap(std::move(values), {4});
  EXPECT_EQ(*t.data<std::complex<float>>(), memory);
  EXPECT_EQ(t.dtype(), kComplex64);
}

TEST(Wrap, ADeleterRunsOnceWithTheLastReference) {
  int32_t values[6] = {0, 1, 2, 3, 4, 5};
  int deleted = 0;
  const int32_t* given_back = nullptr;
  Tensor t = *Tensor::Wrap(values, {3, 2}, {1, 3}, Device::Cpu(), [&](const int32_t* data) {
    given_back = data;
    ++deleted;
  });
  EXPECT_THAT(t.strides(), ElementsAre(1, 3));
  Tensor row = *t.Select(0, 2);
  t = Tensor();
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(**row.at<int32_t>({1}), 5);
  row = Tensor();
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(given_back, values);
}

TEST(Wrap, ADeleterWithoutArgumentsKeepsWhatItHoldsUntilTheEnd) {
  auto owner = std::make_shared<std::vector<int64_t>>(4, 7);
  const std::weak_ptr<std::vector<int64_t>> watch = owner;
  {
    const Tensor t = *Tensor::Wrap(owner->data() + 3, {4}, {-1}, Device::Cpu(), [owner] {});
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(t.raw_data(), watch.lock()->data() + 3) << "element 0";
    EXPECT_EQ(t.storage()->data(), watch.lock()->data()) << "the lowest byte";
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Wrap, ConstMemoryIsReadOnly) {
  static constexpr float kValues[2] = {1, 2};
  const Tensor t = *Tensor::Wrap(kValues, {2}, {1}, Device::Cpu(), [] {});
  EXPECT_TRUE(t.is_read_only());
  EXPECT_EQ(t.data<float>().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Wrap, AnArrayStaysWithItsOwnerOnAnError) {
  auto values = std::make_unique<int32_t[]>(2);
  const int32_t* const memory = values.get();
  values[1] = 7;
  EXPECT_FALSE(Tensor::Wrap(std::move(values), {2, -1}).ok());
  ASSERT_EQ(values.get(), memory);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(values[1], 7);
  EXPECT_TRUE(Tensor::Wrap(std::move(values), {2}).ok()) << "it can be passed again";
  EXPECT_EQ(values, nullptr);  // NOLINT(bugprone-use-after-move)
}

TEST(Wrap, ANullArrayIsRefusedUnlessThereAreNoElements) {
  std::unique_ptr<float[]> none;
  EXPECT_EQ(Tensor::Wrap(std::move(none), {1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Tensor::Wrap(std::unique_ptr<float[]>(), {0}).ok());
}

TEST(Wrap, AVectorStaysUnchangedIfTheShapeIsBad) {
  std::vector<float> values = {1, 2, 3, 4};
  const float* const memory = values.data();
  EXPECT_FALSE(Tensor::Wrap(std::move(values), {-4}).ok());
  EXPECT_EQ(values.data(), memory);  // NOLINT(bugprone-use-after-move)
}

TEST(Wrap, ADeleterThatOwnsTheMemoryStaysWithTheCallerOnAnError) {
  int deleted = 0;
  struct Free {
    void operator()(float* data) const {
      ++*deleted;
      delete[] data;
    }
    int* deleted;
  };
  std::unique_ptr<float[], Free> memory(new float[2]{1, 2}, Free{&deleted});
  float* const data = memory.get();
  auto owner = [kept = std::move(memory)] {};
  EXPECT_FALSE(Tensor::Wrap(data, {3, -1}, {1, 1}, Device::Cpu(), std::move(owner)).ok());
  EXPECT_EQ(deleted, 0);
  {
    const auto t = Tensor::Wrap(data, {2}, {1}, Device::Cpu(), std::move(owner));
    ASSERT_TRUE(t.ok());
    EXPECT_EQ(**t->at<float>({1}), 2);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Wrap, ADeleterIsCopiedFromAnLvalueAndMayBeAFunction) {
  static int freed = 0;
  struct Functions {
    static void Count(float*) { ++freed; }
  };
  float value = 1;
  const auto count = [](const float*) { ++freed; };
  EXPECT_TRUE(Tensor::Wrap(&value, {1}, {1}, Device::Cpu(), count).ok());
  EXPECT_TRUE(Tensor::Wrap(&value, {1}, {1}, Device::Cpu(), count).ok());
  EXPECT_TRUE(Tensor::Wrap(&value, {1}, {1}, Device::Cpu(), Functions::Count).ok());
  EXPECT_TRUE(Tensor::Wrap(&value, {1}, {1}, Device::Cpu(), &Functions::Count).ok());
  EXPECT_EQ(freed, 4);
}

TEST(Wrap, NothingIsTakenOnAnError) {
  int deleted = 0;
  auto deleter = [&] { ++deleted; };
  float values[4] = {};
  EXPECT_FALSE(Tensor::Wrap(values, {2, -1}, {1, 1}, Device::Cpu(), deleter).ok());
  EXPECT_FALSE(Tensor::Wrap(values, {2, 2}, {1}, Device::Cpu(), deleter).ok());
  EXPECT_FALSE(Tensor::Wrap(static_cast<float*>(nullptr), {2}, {1}, Device::Cpu(), deleter).ok());
  EXPECT_EQ(deleted, 0);
}

TEST(Elements, SpanWantsRowMajorWithoutGaps) {
  const Tensor t = *Tensor::Wrap(std::vector<int32_t>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_THAT(*t.span<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(t.Transpose(0, 1)->span<int32_t>().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(t.span<float>().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Elements, AtIsCheckedAndCountsNegativeIndicesFromTheEnd) {
  const Tensor t = *Tensor::Wrap(std::vector<int32_t>{0, 1, 2, 3, 4, 5}, {2, 3});
  **t.at<int32_t>({1, 2}) = 50;
  EXPECT_EQ(**t.at<int32_t>({-1, -1}), 50);
  EXPECT_EQ(**t.Transpose(0, 1)->at<int32_t>({2, 0}), 2);
  EXPECT_EQ(t.at<int32_t>({2, 0}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.at<int32_t>({0, -4}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.at<int32_t>({0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(t.at<float>({0, 0}).status().code(), absl::StatusCode::kFailedPrecondition);
}

template <typename T>
std::vector<std::remove_const_t<T>> All(const Tensor& t) {
  std::vector<std::remove_const_t<T>> all;
  const absl::StatusOr<ElementRange<T>> elements = t.elements<T>();
  for (T& value : *elements) all.push_back(value);
  EXPECT_EQ(static_cast<int64_t>(all.size()), elements->size());
  return all;
}

TEST(Elements, ARangeGoesInRowMajorOrderWhateverTheStrides) {
  const Tensor t = *Tensor::Wrap(std::vector<int32_t>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_THAT(All<int32_t>(t), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(All<int32_t>(*t.Transpose(0, 1)), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(All<int32_t>(*t.Slice(1, {.step = -2})), ElementsAre(2, 0, 5, 3));
  EXPECT_THAT(All<const int32_t>(*t.Select(0, 1)->BroadcastTo({2, 3})),
              ElementsAre(3, 4, 5, 3, 4, 5));
  EXPECT_THAT(All<int32_t>(*t.Slice(1, {.stop = 0})), ElementsAre());
  EXPECT_THAT(All<int32_t>(*t.Index({IndexItem::At(1), IndexItem::At(0)})), ElementsAre(3));
}

TEST(Elements, ARangeWritesInPlace) {
  const Tensor t = *Tensor::Wrap(std::vector<float>(6), {2, 3});
  const Tensor first = *t.Slice(1, {.stop = 1});
  const absl::StatusOr<ElementRange<float>> elements = first.elements<float>();
  for (float& value : *elements) value = 1;
  EXPECT_THAT(*t.span<float>(), ElementsAre(1, 0, 0, 1, 0, 0));
}

// The ranges that a StatusOr holds, as one writes them first: the StatusOr ends before the loop.
// (AddressSanitizer sees a use of it.)
TEST(Elements, ALoopOverATemporaryRangeReadsAllElements) {
  const absl::StatusOr<Tensor> t = Tensor::Wrap(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  std::vector<float> seen;
  for (float value : t->elements<float>().value()) seen.push_back(value);
  for (float value : *t->elements<float>()) seen.push_back(value);
  for (float value : t->span<float>().value()) seen.push_back(value);
  for (float value : *t->span<float>()) seen.push_back(value);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5,  //
                                0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
}

TEST(Elements, ALoopOverTheRangeOfATemporaryTensorReadsAllElements) {
  const Tensor t = *Tensor::Wrap(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  std::vector<float> seen;
  for (float value : *t.Transpose(0, 1)->elements<float>()) seen.push_back(value);
  EXPECT_THAT(seen, ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Elements, ARangeKeepsTheMemoryOfItsElements) {
  int deletions = 0;
  {
    float values[2] = {1, 2};
    const ElementRange<float> elements =
        *Tensor::Wrap(values, {2}, {1}, Device::Cpu(), [&] { ++deletions; })->elements<float>();
    EXPECT_EQ(deletions, 0) << "the tensor is gone, the range is there";
    EXPECT_EQ(*elements.begin(), 1);
  }
  EXPECT_EQ(deletions, 1);
}

TEST(Elements, AnErrorIsThatOfAStatusOr) {
  const Tensor t = *Tensor::Wrap(std::vector<float>{1}, {1});
  const absl::StatusOr<ElementRange<int32_t>> elements = t.elements<int32_t>();
  EXPECT_EQ(elements.status().code(), absl::StatusCode::kFailedPrecondition);
  const absl::StatusOr<absl::Span<const float>> span = t.span<const float>();
  EXPECT_THAT(*span, ElementsAre(1));
}

}  // namespace
}  // namespace dovetail
