#include "dovetail/interop/tvm_ffi/import.h"

#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// tvm-ffi's own tensors over 64 floats; counts how often they are freed.
struct Allocator {
  std::shared_ptr<std::vector<float>> memory = std::make_shared<std::vector<float>>(64);
  int* freed;
  void AllocData(DLTensor* t) {
    t->data = t->ndim == 1 && t->shape[0] == 0 ? nullptr : memory->data();
  }
  void FreeData(DLTensor*) { ++*freed; }
};
tvm::ffi::Tensor Make(std::vector<int64_t> shape, int* freed, DLDevice device = {kDLCPU, 0},
                      DLDataType dtype = {kDLFloat, 32, 1}) {
  return tvm::ffi::Tensor::FromNDAlloc(Allocator{.freed = freed}, tvm::ffi::Shape(shape), dtype,
                                       device);
}
std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(FromTvmFfiTest, HoldsTheObject) {
  int freed = 0;
  tvm::ffi::Tensor x = Make({3, 4}, &freed);
  void* const data = x.data_ptr();
  Tensor y = FromTvmFfi(std::move(x)).value();
  EXPECT_EQ(y.raw_data(), data);
  EXPECT_EQ(y.dtype(), kFloat32);
  EXPECT_EQ(y.device(), Device::Cpu());
  EXPECT_THAT(y.shape(), ElementsAre(3, 4));
  EXPECT_THAT(y.strides(), ElementsAre(4, 1));
  EXPECT_FALSE(y.is_read_only());
  Tensor row = y.Select(0, 1).value();
  y = Tensor();
  EXPECT_EQ(freed, 0);
  std::thread([row = std::move(row)]() mutable { row = Tensor(); }).join();
  EXPECT_EQ(freed, 1);
}

TEST(FromTvmFfiTest, ACopyOfTheReferenceLeavesTheCallersAlive) {
  int freed = 0;
  const tvm::ffi::Tensor x = Make({2}, &freed);
  {
    const Tensor y = FromTvmFfi(x).value();
    EXPECT_EQ(x.use_count(), 2);
  }
  EXPECT_EQ(x.use_count(), 1);
  EXPECT_EQ(freed, 0);
}

TEST(FromTvmFfiTest, AnOwnTensorIsUnwrapped) {
  RegisterDefaultBackends();
  const Tensor x = Tensor::Empty({4, 4}, kFloat32).value().Slice(0, {1, 3}).value();
  const Tensor y = FromTvmFfi(AsTvmFfi(x).value()).value();
  EXPECT_EQ(y.storage().get(), x.storage().get());
  EXPECT_EQ(y.raw_data(), x.raw_data());
  EXPECT_EQ(y.layout(), x.layout());
  EXPECT_EQ(x.storage()->use_count(), 2);
}

TEST(FromTvmFfiTest, AnOwnTensorThatWasChangedIsNotUnwrapped) {
  RegisterDefaultBackends();
  const Tensor x = Tensor::Empty({4}, kFloat32).value();
  const tvm::ffi::Tensor out = AsTvmFfi(x).value();
  float other[4] = {};
  const_cast<DLTensor*>(out.GetDLTensorPtr())->data = other;
  const Tensor y = FromTvmFfi(out).value();
  EXPECT_EQ(y.raw_data(), other);
  EXPECT_NE(y.storage().get(), x.storage().get());
  EXPECT_EQ(x.storage()->use_count(), 2);  // `out` keeps it
}

TEST(FromTvmFfiTest, ATensorOfTvmFfiGoesBackAsTheSameObject) {
  int freed = 0;
  const tvm::ffi::Tensor x = Make({4}, &freed);
  const Tensor y = FromTvmFfi(x).value();
  EXPECT_TRUE(AsTvmFfi(y).value().same_as(x));
  const tvm::ffi::Tensor number = Make({}, &freed);
  EXPECT_TRUE(AsTvmFfi(FromTvmFfi(number).value()).value().same_as(number));
  const tvm::ffi::Tensor part = AsTvmFfi(y.Slice(0, {1, 3}).value()).value();
  EXPECT_FALSE(part.same_as(x));
  EXPECT_EQ(part.data_ptr(), static_cast<float*>(x.data_ptr()) + 1);
}

TEST(FromTvmFfiTest, AReadOnlyTensorThatComesBackIsReadOnly) {
  RegisterDefaultBackends();
  const Tensor x = Tensor::Empty({4}, kFloat32).value();
  const tvm::ffi::Tensor out = AsTvmFfi(x.ReadOnly(), {.allow_read_only = true}).value();
  const Tensor y = FromTvmFfi(out).value();
  EXPECT_EQ(y.storage().get(), x.storage().get());
  EXPECT_TRUE(y.is_read_only());
  EXPECT_FALSE(FromTvmFfi(AsTvmFfi(x).value()).value().is_read_only());
  float other[4] = {};
  const_cast<DLTensor*>(out.GetDLTensorPtr())->data = other;  // no longer unwrapped
  EXPECT_EQ(FromTvmFfi(out).value().raw_data(), other);
  EXPECT_TRUE(FromTvmFfi(out).value().is_read_only());
}

TEST(FromTvmFfiTest, AReadOnlyViewOfTvmFfisTensorComesBackReadOnly) {
  int freed = 0;
  {
    const tvm::ffi::Tensor x = Make({4}, &freed);
    const Tensor y = FromTvmFfi(x).value().ReadOnly();
    const tvm::ffi::Tensor out = AsTvmFfi(y, {.allow_read_only = true}).value();
    EXPECT_FALSE(out.same_as(x));
    EXPECT_EQ(out.data_ptr(), x.data_ptr());
    EXPECT_TRUE(FromTvmFfi(out).value().is_read_only());
    EXPECT_FALSE(FromTvmFfi(x).value().is_read_only());
  }
  EXPECT_EQ(freed, 1);
}

TEST(FromTvmFfiTest, NumbersEmptyTensorsAndNullStrides) {
  int freed = 0;
  EXPECT_EQ(FromTvmFfi(Make({}, &freed))->rank(), 0);
  EXPECT_EQ(FromTvmFfi(Make({0}, &freed))->num_elements(), 0);
  EXPECT_EQ(freed, 2);
  const tvm::ffi::Tensor x = Make({2, 3}, &freed);
  const_cast<DLTensor*>(x.GetDLTensorPtr())->strides = nullptr;
  const Tensor y = FromTvmFfi(x).value();
  EXPECT_THAT(y.strides(), ElementsAre(3, 1));
  EXPECT_EQ(AsTvmFfi(y)->stride(0), 3);  // a new object, which has strides
}

TEST(FromTvmFfiTest, AnInvalidTensorIsRefusedAndNotTaken) {
  int freed = 0;
  const tvm::ffi::Tensor x = Make({2}, &freed, {kDLCPU, 0}, {kDLFloat, 13, 1});
  EXPECT_EQ(FromTvmFfi(x).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(x.use_count(), 1);
  EXPECT_THAT(ErrorOf(FromTvmFfi(tvm::ffi::Tensor()).status()), HasSubstr("it is undefined"));
}

TEST(FromTvmFfiTest, LaterWorkWaitsForTheStreamOfAGpuTensor) {
  FakeLog log;
  ScopedBackendOverride fake(std::make_unique<FakeBackend>(std::vector{DeviceType::kCuda}, &log));
  int freed = 0;
  {
    const Device gpu = Device::Cuda(1);
    const Tensor y =
        FromTvmFfi(Make({2}, &freed, {kDLCUDA, 1}), {.stream = FakeStream(gpu, 3)}).value();
    EXPECT_EQ(y.device(), gpu);
    EXPECT_THAT(y.storage()->used_on(), ElementsAre(Stream::Borrow(gpu, NativeStream{3})));
  }
  for (const Release& late : log.late) late.function(late.context);
  EXPECT_EQ(freed, 1);
}

TEST(ViewOfTest, BorrowsWhatTheViewBorrows) {
  int freed = 0;
  const tvm::ffi::Tensor x = Make({3, 4}, &freed);
  const tvm::ffi::TensorView view(x);
  const TensorView v = ViewOf(view).value();
  EXPECT_EQ(v.data, x.data_ptr());
  EXPECT_EQ(v.dtype, kFloat32);
  EXPECT_EQ(v.shape.data(), x.shape().data());
  EXPECT_THAT(v.strides, ElementsAre(4, 1));
  EXPECT_EQ(v.access, Access::kReadWrite);
  EXPECT_EQ(x.use_count(), 1);
}

TEST(ViewOfTest, MissingStridesAreAStatusNotAnException) {
  int64_t shape[] = {2};
  float data[2];
  const DLTensor t = {
      .data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  EXPECT_THAT(ErrorOf(ViewOf(tvm::ffi::TensorView(&t)).status()), HasSubstr("no strides (NULL)"));
}

}  // namespace
}  // namespace dovetail
