#include "dovetail/interop/tvm_ffi/export.h"

#include <tvm/ffi/tvm_ffi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/import.h"
#include "dovetail/interop/tvm_ffi/stream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Floats that count how often they are released.
Tensor Counted(std::vector<int64_t> shape, std::vector<int64_t> strides, int* released,
               int64_t first = 0, Device device = Device::Cpu()) {
  auto memory = std::make_shared<std::vector<float>>(64);
  return Tensor::Wrap(memory->data() + first, shape, strides, device,
                      [memory, released] { ++*released; })
      .value();
}

std::vector<int64_t> Dims(tvm::ffi::ShapeView dims) { return {dims.begin(), dims.end()}; }
std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(AsTvmFfiTest, MemoryShapeAndStridesAreShared) {
  int released = 0;
  {
    tvm::ffi::Tensor y;
    {
      const Tensor x = Counted({3, 4}, {1, 8}, &released, 2);
      y = AsTvmFfi(x).value();
      EXPECT_EQ(y.data_ptr(), x.raw_data());
    }
    EXPECT_EQ(y.byte_offset(), 0);
    EXPECT_EQ(y.device().device_type, kDLCPU);
    EXPECT_EQ(y.dtype().code, kDLFloat);
    EXPECT_EQ(y.dtype().bits, 32);
    EXPECT_THAT(Dims(y.shape()), ElementsAre(3, 4));
    EXPECT_THAT(Dims(y.strides()), ElementsAre(1, 8));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(AsTvmFfiTest, AnyReferenceKeepsTheMemoryButAWeakOneDoesNot) {
  using tvm::ffi::Object;
  int released = 0;
  tvm::ffi::Any any = AsTvmFfi(Counted({2}, {1}, &released)).value();
  const tvm::ffi::WeakObjectPtr<Object> weak(
      internal_tvm_ffi::ObjectUnsafe::ObjectPtrFromObjectRef<Object>(
          any.cast<tvm::ffi::ObjectRef>()));
  EXPECT_EQ(released, 0);
  any = nullptr;
  EXPECT_EQ(released, 1);
  EXPECT_EQ(weak.lock(), nullptr);
}

TEST(AsTvmFfiTest, AnotherThreadMayDropIt) {
  int released = 0;
  tvm::ffi::Tensor y = AsTvmFfi(Counted({2}, {1}, &released)).value();
  std::thread([y = std::move(y)]() mutable { y = tvm::ffi::Tensor(); }).join();
  EXPECT_EQ(released, 1);
}

TEST(AsTvmFfiTest, AViewThatTvmFfiMakesKeepsTheMemory) {
  int released = 0;
  {
    const int64_t shape[] = {2}, strides[] = {1};
    const tvm::ffi::Tensor view =
        AsTvmFfi(Counted({8}, {1}, &released)).value().as_strided({shape, 1}, {strides, 1}, 3);
    EXPECT_EQ(released, 0);
    const Tensor back = FromTvmFfi(view).value();
    EXPECT_THAT(back.shape(), ElementsAre(2));
  }
  EXPECT_EQ(released, 1);
}

TEST(AsTvmFfiTest, AFunctionOfTvmFfiTakesIt) {
  int released = 0;
  const Tensor x = Counted({4}, {1}, &released);
  const auto fill = tvm::ffi::Function::FromTyped([](tvm::ffi::TensorView v) {
    for (int64_t i = 0; i < v.numel(); ++i) static_cast<float*>(v.data_ptr())[i] = 7;
    return v.numel();
  });
  EXPECT_EQ(fill(AsTvmFfi(x).value()).cast<int64_t>(), 4);
  EXPECT_EQ(**x.at<float>({3}), 7);
  EXPECT_EQ(fill(AsTvmFfiView(x).value()).cast<int64_t>(), 4);
}

TEST(AsTvmFfiTest, NumbersEmptyTensorsNegativeStridesAndManyDimensions) {
  int released = 0;
  const tvm::ffi::Tensor number = AsTvmFfi(Counted({}, {}, &released)).value();
  EXPECT_EQ(number.ndim(), 0);
  EXPECT_NE(number.data_ptr(), nullptr);
  const tvm::ffi::Tensor empty = AsTvmFfi(Counted({0, 3}, {3, 1}, &released)).value();
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_EQ(empty.data_ptr(), nullptr);
  const Tensor x = Counted({4}, {-2}, &released, 10);
  const tvm::ffi::Tensor backwards = AsTvmFfi(x).value();
  EXPECT_EQ(backwards.data_ptr(), x.raw_data());
  EXPECT_EQ(backwards.stride(0), -2);
  const std::vector<int64_t> ones(9, 1);
  const tvm::ffi::Tensor deep = AsTvmFfi(Counted(ones, ones, &released)).value();
  EXPECT_EQ(Dims(deep.shape()), ones);
  EXPECT_EQ(Dims(deep.strides()), ones);
}

TEST(AsTvmFfiTest, EveryElementTypeGoesThereAndBack) {
  RegisterDefaultBackends();
  for (DType dtype : kAllDTypes) {
    const Tensor x = Tensor::Empty({2, 4}, dtype).value();
    const Tensor y = FromTvmFfi(AsTvmFfi(x).value()).value();
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.raw_data(), x.raw_data());
  }
}

TEST(AsTvmFfiTest, AReadOnlyTensorIsRefusedUnlessTheCallerAllowsIt) {
  int released = 0;
  const Tensor x = Counted({2}, {1}, &released).ReadOnly();
  const absl::Status refused = AsTvmFfi(x).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(ErrorOf(refused), HasSubstr("tvm-ffi has no read-only tensors. Pass Copied(tensor)"));
  EXPECT_THAT(ErrorOf(AsTvmFfiView(x).status()), HasSubstr("read-only"));
  EXPECT_EQ(AsTvmFfi(x, {.allow_read_only = true})->data_ptr(), x.raw_data());
  EXPECT_EQ(AsTvmFfiView(x, {.allow_read_only = true})->data_ptr(), x.raw_data());
}

TEST(AsTvmFfiTest, PaddedElementsAndNullTensorsAreRefused) {
  RegisterDefaultBackends();
  const Tensor bytes = Tensor::Empty({4}, kUInt8).value();
  const Tensor padded = Tensor::Make(bytes.storage(), 0, kInt4, Layout::Contiguous({4}).value(),
                                     {.packing = Packing::kPadded})
                            .value();
  EXPECT_THAT(ErrorOf(AsTvmFfi(padded).status()), HasSubstr("tvm-ffi packs them"));
  EXPECT_THAT(ErrorOf(AsTvmFfi(Tensor()).status()), HasSubstr("it has no memory"));
  EXPECT_THAT(ErrorOf(AsTvmFfiView(Tensor()).status()), HasSubstr("tvm::ffi::TensorView"));
}

TEST(AsTvmFfiTest, MemoryOnAGpuWaitsForItsWork) {
  FakeLog log;
  ScopedBackendOverride fake(std::make_unique<FakeBackend>(std::vector{DeviceType::kCuda}, &log));
  int released = 0;
  const Device gpu = Device::Cuda(1);
  {
    const Tensor x = Counted({2}, {1}, &released, 0, gpu);
    x.storage()->RecordUse(FakeStream(gpu, 5));
    ASSERT_EQ(TVMFFIEnvSetStream(kDLCUDA, 1, reinterpret_cast<void*>(9), nullptr), 0);
    const tvm::ffi::Tensor y = AsTvmFfi(x, {.stream = TvmFfiStream(gpu)}).value();
    EXPECT_EQ(y.device().device_type, kDLCUDA);
    EXPECT_EQ(y.device().device_id, 1);
    ASSERT_EQ(log.waited.size(), 1);
    EXPECT_EQ(log.waited[0].native(), NativeStream{9});
    EXPECT_TRUE(AsTvmFfiView(x).ok());
    EXPECT_EQ(log.waited.size(), 1);  // without a stream nothing is ordered
  }
  for (const Release& late : log.late) late.function(late.context);
  EXPECT_EQ(released, 1);
}

TEST(AsTvmFfiViewTest, BorrowsTheTensorsShape) {
  int released = 0;
  const Tensor x = Counted({3, 4}, {4, 1}, &released);
  const tvm::ffi::TensorView v = AsTvmFfiView(x).value();
  EXPECT_EQ(v.data_ptr(), x.raw_data());
  EXPECT_EQ(v.shape().data(), x.shape().data());
  EXPECT_EQ(v.strides().data(), x.strides().data());
  EXPECT_EQ(x.storage()->use_count(), 1);
}

}  // namespace
}  // namespace dovetail
