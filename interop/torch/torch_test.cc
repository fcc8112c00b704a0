#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/torch/export.h"
#include "dovetail/interop/torch/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A tensor of 64 floats, 0 to 63, that counts how often it is released.
Tensor Counted(std::vector<int64_t> shape, std::vector<int64_t> strides, int* released,
               Device device = Device::Cpu(), int64_t first = 0) {
  auto memory = std::make_shared<std::vector<float>>(64);
  std::iota(memory->begin(), memory->end(), 0.0F);
  return Tensor::Wrap(memory->data() + first, shape, strides, device,
                      [memory, released] { ++*released; })
      .value();
}

Tensor New(std::vector<int64_t> shape, DType dtype) {
  RegisterDefaultBackends();
  return Tensor::Empty(shape, dtype).value();
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(AsTorchTest, MemoryShapeAndStridesAreShared) {
  int released = 0;
  {
    Tensor x = Counted({3, 4}, {1, 8}, &released);
    const at::Tensor y = AsTorch(x).value();
    EXPECT_EQ(y.data_ptr(), x.raw_data());
    EXPECT_EQ(y.scalar_type(), at::kFloat);
    EXPECT_THAT(y.sizes().vec(), ElementsAre(3, 4));
    EXPECT_THAT(y.strides().vec(), ElementsAre(1, 8));
    EXPECT_EQ(y[2][3].item<float>(), 26);
    EXPECT_FALSE(y.requires_grad());
  }
  EXPECT_EQ(released, 1);
}

TEST(AsTorchTest, ViewsInPyTorchKeepTheMemory) {
  int released = 0;
  at::Tensor kept;
  {
    const at::Tensor y = AsTorch(Counted({8, 8}, {8, 1}, &released)).value();
    kept = y.slice(0, 2, 4).t();
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(kept[1][1].item<float>(), 25);
  kept.reset();
  EXPECT_EQ(released, 1);
}

TEST(AsTorchTest, WhatPyTorchWritesIsSeen) {
  int released = 0;
  Tensor x = Counted({4}, {2}, &released);
  AsTorch(x)->add_(1);
  EXPECT_EQ(**x.at<float>({3}), 7);
}

TEST(AsTorchTest, ScalarsAndEmptyTensorsPass) {
  int released = 0;
  EXPECT_EQ(AsTorch(Counted({}, {}, &released))->item<float>(), 0);
  const at::Tensor empty = AsTorch(Counted({0, 3}, {3, 1}, &released)).value();
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_THAT(empty.sizes().vec(), ElementsAre(0, 3));
  const at::Tensor broadcast = AsTorch(Counted({3, 2}, {0, 1}, &released)).value();
  EXPECT_EQ(broadcast.sum().item<float>(), 3);
}

TEST(AsTorchTest, NegativeStridesThatNoElementIsReachedByDoNotMatter) {
  int released = 0;
  {
    const Tensor one = Counted({2, 1, 3}, {3, -5, 1}, &released);
    const absl::StatusOr<at::Tensor> y = AsTorch(one);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->data_ptr(), one.raw_data());
    EXPECT_THAT(y->strides().vec(), ElementsAre(3, ::testing::Ge(0), 1));
    EXPECT_EQ((*y)[1][0][2].item<float>(), 5);
    EXPECT_TRUE(y->is_contiguous());
    const absl::StatusOr<at::Tensor> none = AsTorch(Counted({2, 0, 3}, {-3, -1, -1}, &released));
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_THAT(none->sizes().vec(), ElementsAre(2, 0, 3));
    EXPECT_THAT(none->strides().vec(), Each(::testing::Ge(0)));
    EXPECT_FALSE(AsTorch(Counted({2, 3}, {3, -1}, &released, Device::Cpu(), 2)).ok());
    EXPECT_FALSE(AsTorch(Counted({2}, {-1}, &released, Device::Cpu(), 1)).ok());
  }
  EXPECT_EQ(released, 4);
}

TEST(AsTorchTest, EveryTypeGoesOutAndComesBack) {
  for (const auto& [type, dtype] : internal_torch::kTypes) {
    Tensor x = New({2, 3}, dtype);
    const at::Tensor y = AsTorch(x).value();
    EXPECT_EQ(y.scalar_type(), type);
    EXPECT_EQ(static_cast<int64_t>(y.nbytes()), x.nbytes()) << dtype;
    EXPECT_EQ(FromTorch(y)->dtype(), dtype);
  }
}

TEST(AsTorchTest, ElementsThatFillBytesGoOutWhateverTheirMakerSaidOfPadding) {
  float numbers[2] = {1, 2};
  const Tensor x = Tensor::Make(Storage::Adopt(numbers, sizeof numbers, Device::Cpu(), {}), 0,
                                kFloat32, *Layout::Contiguous({2}), {.packing = Packing::kPadded})
                       .value();
  const absl::StatusOr<at::Tensor> y = AsTorch(x);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->data_ptr(), numbers);
}

TEST(AsTorchTest, WhatPyTorchLacksIsRefused) {
  int released = 0;
  EXPECT_THAT(ErrorOf(AsTorch(Tensor()).status()), HasSubstr("null"));
  EXPECT_THAT(ErrorOf(AsTorch(Counted({4}, {-1}, &released, Device::Cpu(), 3)).status()),
              HasSubstr("negative strides"));
  EXPECT_THAT(ErrorOf(AsTorch(New({2}, kInt4)).status()), HasSubstr("no such int4"));
  EXPECT_THAT(ErrorOf(AsTorch(New({2}, kFloat8E3M4)).status()), HasSubstr("Copied"));
  EXPECT_THAT(
      ErrorOf(AsTorch(Counted({4}, {1}, &released, Device{DeviceType::kVulkan, 0})).status()),
      HasSubstr("device"));
  EXPECT_EQ(released, 2);
}

TEST(AsTorchTest, ADeviceBeyondPyTorchsNumbersIsRefused) {
  int released = 0;
  EXPECT_THAT(ErrorOf(AsTorch(Counted({2}, {1}, &released, Device::Cuda(128))).status()),
              HasSubstr("does not know its device"));
  EXPECT_EQ(released, 1);
}

TEST(AsTorchTest, ReadOnlyMemoryGoesOutOnlyByPromise) {
  int released = 0;
  const Tensor x = Counted({4}, {1}, &released).ReadOnly();
  EXPECT_THAT(ErrorOf(AsTorch(x).status()), HasSubstr("allow_read_only"));
  EXPECT_EQ(AsTorch(x, {.allow_read_only = true})->data_ptr(), x.raw_data());
}

TEST(AsTorchTest, UnalignedMemoryIsShared) {
  alignas(8) char memory[17];
  Tensor x =
      Tensor::Wrap(reinterpret_cast<float*>(memory + 1), {4}, {1}, Device::Cpu(), [] {}).value();
  EXPECT_EQ(AsTorch(x)->data_ptr(), memory + 1);
}

TEST(AsTorchTest, DeviceMemoryKeepsItsDeviceAndWaitsForTheStream) {
  FakeLog log;
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  Tensor x = Tensor::Empty({4}, kFloat32, Device::Cuda(1)).value();
  const Stream producer = FakeStream(Device::Cuda(1), 5), consumer = FakeStream(Device::Cuda(1), 7);
  x.storage()->RecordUse(producer);
  const at::Tensor y = AsTorch(x, {.stream = consumer}).value();
  EXPECT_EQ(y.device(), at::Device(at::kCUDA, 1));
  EXPECT_EQ(y.data_ptr(), x.raw_data());
  EXPECT_THAT(log.waited, Each(consumer));
  EXPECT_FALSE(log.waited.empty());

  Tensor back = FromTorch(y, {.stream = consumer}).value();
  EXPECT_EQ(back.device(), Device::Cuda(1));
  EXPECT_THAT(back.storage()->used_on(), ElementsAre(consumer));
  // PyTorch gets its storage back after the work on that stream.
  const auto uses = y.storage().use_count();
  back = Tensor();
  ASSERT_EQ(log.late.size(), 1u);
  EXPECT_EQ(y.storage().use_count(), uses);
  log.late[0].function(log.late[0].context);
  EXPECT_EQ(y.storage().use_count(), uses - 1);
}

TEST(FromTorchTest, MemoryShapeAndStridesAreShared) {
  const at::Tensor y = at::arange(12, at::kDouble).view({3, 4}).t();
  Tensor x = FromTorch(y).value();
  EXPECT_EQ(x.raw_data(), y.data_ptr());
  EXPECT_EQ(x.dtype(), kFloat64);
  EXPECT_EQ(x.device(), Device::Cpu());
  EXPECT_THAT(x.shape(), ElementsAre(4, 3));
  EXPECT_THAT(x.strides(), ElementsAre(1, 4));
  EXPECT_EQ(**x.at<double>({3, 2}), 11);
}

TEST(FromTorchTest, TheStorageIsCountedAndReleased) {
  at::Tensor y = at::zeros({4});
  const auto uses = [&] { return y.storage().use_count(); };
  const auto before = uses();
  {
    Tensor x = FromTorch(y).value();
    EXPECT_EQ(uses(), before + 1);
    const Tensor slice = x.Slice(0, {.start = 1, .stop = 2}).value();
    EXPECT_EQ(uses(), before + 1);
  }
  EXPECT_EQ(uses(), before);
}

TEST(FromTorchTest, TheMemoryStaysWhateverHappensToTheTensor) {
  at::Tensor y = at::full({4}, 7, at::kFloat);
  Tensor x = FromTorch(y).value();
  y.set_(at::zeros({1000}));
  EXPECT_THAT(*x.span<float>(), ElementsAre(7, 7, 7, 7));
  at::Tensor z = at::full({4}, 8, at::kFloat);
  x = FromTorch(z).value();
  EXPECT_THROW(z.resize_({1000}), c10::Error);
  z.reset();
  EXPECT_THAT(*x.span<float>(), ElementsAre(8, 8, 8, 8));
}

TEST(FromTorchTest, WhatStandsForValuesIsRefusedWithTheRemedy) {
  const at::Tensor complex = at::zeros({2, 2}, at::kComplexFloat);
  const std::pair<at::Tensor, const char*> refused[] = {
      {at::Tensor(), "undefined"},
      {at::zeros({2}).requires_grad_(), "x.detach()"},
      {at::conj(complex), "x.resolve_conj()"},
      {at::imag(at::conj(complex)), "x.resolve_neg()"},
      {at::_efficientzerotensor({2}), "lazy zero"},
      {at::zeros({2}).to_sparse(), "x.to_dense()"},
      {at::zeros({2}, at::device(at::kMeta)), "meta"},
      {at::quantize_per_tensor(at::zeros({2}), 0.1, 0, at::kQInt8), "QInt8"},
  };
  for (const auto& [tensor, message] : refused) {
    const absl::StatusOr<Tensor> x = FromTorch(tensor);
    EXPECT_EQ(x.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(ErrorOf(x.status()), HasSubstr(message));
  }
}

TEST(FromTorchTest, ScalarsAndEmptyTensorsPass) {
  EXPECT_EQ(**FromTorch(at::full({}, 3, at::kInt))->data<int32_t>(), 3);
  EXPECT_THAT(FromTorch(at::zeros({0, 2}))->shape(), ElementsAre(0, 2));
  EXPECT_THAT(FromTorch(at::zeros({2}).expand({3, 2}))->strides(), ElementsAre(0, 1));
}

TEST(TorchTest, ATensorOfPyTorchGoesBackWithItsStorage) {
  at::Tensor y = at::arange(12, at::kFloat).view({3, 4});
  Tensor x = FromTorch(y).value();
  const at::Tensor row = AsTorch(x.Select(0, 2).value()).value();
  EXPECT_TRUE(row.is_alias_of(y));
  EXPECT_EQ(row.storage_offset(), 8);
  EXPECT_EQ(row.data_ptr(), y[2].data_ptr());
  EXPECT_EQ(row[3].item<float>(), 11);
}

TEST(TorchTest, ATensorOfDovetailComesBackOverTheSameMemory) {
  int released = 0;
  Tensor x = Counted({4}, {1}, &released);
  void* const data = x.raw_data();
  Tensor back = FromTorch(*AsTorch(x)).value();
  x = Tensor();
  EXPECT_EQ(back.raw_data(), data);
  EXPECT_EQ(released, 0);
  back = Tensor();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace dovetail
