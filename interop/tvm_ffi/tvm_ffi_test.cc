#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "dovetail/interop/tvm_ffi/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

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

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

// Memory of tvm-ffi's own, which counts how often it is freed.
struct Allocator {
  int* freed;
  void AllocData(DLTensor* tensor) { tensor->data = new float[64]{}; }
  void FreeData(DLTensor* tensor) {
    delete[] static_cast<float*>(tensor->data);
    ++*freed;
  }
};
tvm::ffi::Tensor Theirs(std::vector<int64_t> shape, int* freed) {
  return tvm::ffi::Tensor::FromNDAlloc(Allocator{freed},
                                       tvm::ffi::ShapeView(shape.data(), shape.size()),
                                       {kDLFloat, 32, 1}, {kDLCPU, 0});
}

TEST(AsTvmFfiTest, MemoryShapeAndStridesAreSharedAndKept) {
  int released = 0;
  {
    Tensor x = Counted({3, 4}, {-8, 1}, &released, Device::Cpu(), 16);
    void* const data = x.raw_data();
    tvm::ffi::Tensor y = AsTvmFfi(x).value();
    x = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(y.data_ptr(), data);
    EXPECT_EQ(y.size(1), 4);
    EXPECT_EQ(y.stride(0), -8);
    EXPECT_EQ(y.device().device_type, kDLCPU);
    EXPECT_EQ(y.dtype().bits, 32);
  }
  EXPECT_EQ(released, 1);
}

TEST(AsTvmFfiTest, AnyTypeDeviceAndShapePasses) {
  int released = 0;
  EXPECT_EQ(AsTvmFfi(Counted({}, {}, &released))->ndim(), 0);
  EXPECT_EQ(AsTvmFfi(Counted({0, 3}, {3, 1}, &released))->numel(), 0);
  const tvm::ffi::Tensor gpu = AsTvmFfi(Counted({4}, {1}, &released, Device::Cuda(2))).value();
  EXPECT_EQ(gpu.device().device_type, kDLCUDA);
  EXPECT_EQ(gpu.device().device_id, 2);
  RegisterDefaultBackends();
  const tvm::ffi::Tensor packed = AsTvmFfi(Tensor::Empty({4}, kInt4).value()).value();
  EXPECT_EQ(packed.dtype().bits, 4);
}

TEST(AsTvmFfiTest, WhatTheyCannotSayIsRefused) {
  int released = 0;
  EXPECT_THAT(ErrorOf(AsTvmFfi(Tensor()).status()), HasSubstr("null"));
  const Tensor x = Counted({4}, {1}, &released).ReadOnly();
  EXPECT_THAT(ErrorOf(AsTvmFfi(x).status()), HasSubstr("allow_read_only"));
  EXPECT_EQ(AsTvmFfi(x, {.allow_read_only = true})->data_ptr(), x.raw_data());
  EXPECT_FALSE(AsTvmFfiView(x).ok());
  RegisterDefaultBackends();
  const Tensor packed = Tensor::Empty({4}, kInt4).value();
  const Tensor padded = Tensor::Make(packed.storage(), 0, kInt4, Layout::Contiguous({2}).value(),
                                     {.packing = Packing::kPadded})
                            .value();
  EXPECT_THAT(ErrorOf(AsTvmFfi(padded).status()), HasSubstr("sub-byte"));
}

TEST(AsTvmFfiTest, AViewBorrows) {
  int released = 0;
  Tensor x = Counted({2, 3}, {4, 1}, &released);
  const tvm::ffi::TensorView view = AsTvmFfiView(x).value();
  EXPECT_EQ(view.data_ptr(), x.raw_data());
  EXPECT_EQ(view.stride(0), 4);
  EXPECT_EQ(x.storage()->use_count(), 1);
}

TEST(FromTvmFfiTest, TheObjectIsHeld) {
  int freed = 0;
  tvm::ffi::Tensor y = Theirs({2, 3}, &freed);
  static_cast<float*>(y.data_ptr())[5] = 7;
  Tensor x = FromTvmFfi(y).value();
  EXPECT_EQ(y.use_count(), 2);
  EXPECT_EQ(x.raw_data(), y.data_ptr());
  EXPECT_THAT(x.shape(), ElementsAre(2, 3));
  EXPECT_THAT(x.strides(), ElementsAre(3, 1));
  y = tvm::ffi::Tensor();
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(**x.at<float>({1, 2}), 7);
  x = Tensor();
  EXPECT_EQ(freed, 1);
}

TEST(FromTvmFfiTest, WhatIsInvalidIsRefusedAndLetGo) {
  EXPECT_THAT(ErrorOf(FromTvmFfi(tvm::ffi::Tensor()).status()), HasSubstr("undefined"));
  int freed = 0;
  tvm::ffi::Tensor y = Theirs({2, 3}, &freed);
  const_cast<DLTensor*>(y.GetDLTensorPtr())->dtype.lanes = 0;
  EXPECT_FALSE(FromTvmFfi(y).ok());
  EXPECT_EQ(y.use_count(), 1);
}

TEST(FromTvmFfiTest, TheArgumentsOfAFunctionAreBorrowed) {
  const auto sum = tvm::ffi::Function::FromTyped([](tvm::ffi::TensorView x) {
    const TensorView view = AsTensorView(x).value();
    return std::accumulate(static_cast<float*>(view.data),
                           static_cast<float*>(view.data) + view.shape[0], 0.0);
  });
  int released = 0;
  Tensor x = Counted({4}, {1}, &released);
  EXPECT_EQ(sum(AsTvmFfi(x).value()).cast<double>(), 0 + 1 + 2 + 3);
}

TEST(FromTvmFfiTest, AViewWithoutStridesIsRefused) {
  int64_t shape[] = {2, 3};
  float memory[6] = {};
  DLTensor lent = {.data = memory,
                   .device = {kDLCPU, 0},
                   .ndim = 2,
                   .dtype = {kDLFloat, 32, 1},
                   .shape = shape,
                   .strides = nullptr,
                   .byte_offset = 0};
  EXPECT_EQ(AsTensorView(tvm::ffi::TensorView(&lent)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TvmFfiTest, AnObjectGoesBackAsItself) {
  int freed = 0;
  tvm::ffi::Tensor y = Theirs({2, 3}, &freed);
  Tensor x = FromTvmFfi(y).value();
  EXPECT_EQ(AsTvmFfi(x)->GetDLTensorPtr(), y.GetDLTensorPtr());
  const tvm::ffi::Tensor row = AsTvmFfi(x.Select(0, 1).value()).value();
  EXPECT_NE(row.GetDLTensorPtr(), y.GetDLTensorPtr());
  EXPECT_EQ(row.data_ptr(), static_cast<float*>(y.data_ptr()) + 3);
}

TEST(TvmFfiTest, ATensorOfDovetailComesBackOverTheSameMemory) {
  int released = 0;
  Tensor x = Counted({4}, {1}, &released);
  Tensor back = FromTvmFfi(AsTvmFfi(x).value()).value();
  EXPECT_EQ(back.raw_data(), x.raw_data());
  x = Tensor();
  EXPECT_EQ(released, 0);
  back = Tensor();
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace dovetail
