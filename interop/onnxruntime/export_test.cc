#include "dovetail/interop/onnxruntime/export.h"

#include <sys/mman.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/interop/onnxruntime/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

// A tensor over `data` that counts its release.
template <typename T>
Tensor Counted(T* data, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides,
               Device device, int* released) {
  return *Tensor::Wrap(data, shape, strides, device, [released] { ++*released; });
}

// A tensor of any element type over memory that outlives it.
Tensor Over(void* data, DType dtype, absl::Span<const int64_t> shape,
            Access access = Access::kReadWrite) {
  return *internal_tensor::WrapUnowned(data, dtype, shape, nullptr, Device::Cpu(), access);
}

void ExpectRefused(const absl::Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

TEST(AsOrtValue, TheValueHasTheTensorsMemoryTypeAndShape) {
  const Tensor tensor = *Tensor::Wrap(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {3, 2});
  const absl::StatusOr<Ort::Value> value = AsOrtValue(tensor);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->GetTensorRawData(), tensor.raw_data());
  const Ort::TensorTypeAndShapeInfo info = value->GetTensorTypeAndShapeInfo();
  EXPECT_EQ(info.GetElementType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  EXPECT_EQ(info.GetShape(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(value->GetTensorMemoryInfo().GetAllocatorName(), "Cpu");
}

TEST(AsOrtValue, TheMemoryIsReleasedOnceWithTheLastValue) {
  float data[4];
  int released = 0;
  {
    Tensor tensor = Counted(data, {2, 2}, {2, 1}, Device::Cpu(), &released);
    Ort::Value first = *AsOrtValue(tensor);
    {
      const Ort::Value second = *AsOrtInput(tensor);
      tensor = Tensor();
      first = Ort::Value{nullptr};
      EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
  }
  EXPECT_EQ(released, 1);
}

TEST(AsOrtValue, AValueMayBeReleasedOnAnotherThread) {
  float data[1];
  int released = 0;
  Ort::Value value = *AsOrtValue(Counted(data, {1}, {1}, Device::Cpu(), &released));
  std::thread([taken = std::move(value)]() mutable { taken = Ort::Value{nullptr}; }).join();
  EXPECT_EQ(released, 1);
}

TEST(AsOrtValue, AViewKeepsItsStartAndWholeMemory) {
  float data[6];
  int released = 0;
  Ort::Value value{nullptr};
  {
    const Tensor tensor = Counted(data, {3, 2}, {2, 1}, Device::Cpu(), &released);
    value = *AsOrtValue(*tensor.Slice(0, {.start = 1, .stop = 3}));
  }
  EXPECT_EQ(value.GetTensorRawData(), data + 2);
  EXPECT_EQ(value.GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(released, 0);
  value = Ort::Value{nullptr};
  EXPECT_EQ(released, 1);
}

TEST(AsOrtValue, ATensorComesBackFromItsValue) {
  float data[2] = {1, 2};
  int released = 0;
  {
    const Tensor back =
        *FromOrtValue(*AsOrtValue(Counted(data, {2}, {1}, Device::Cpu(), &released)));
    EXPECT_EQ(back.raw_data(), data);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(AsOrtValue, EveryElementTypeGoesThereAndBack) {
  alignas(16) std::array<std::byte, 64> memory{};
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(dtype);
    const Tensor tensor = Over(memory.data(), dtype, {3});  // an odd count of sub-byte elements
    absl::StatusOr<Ort::Value> value = AsOrtValue(tensor);
    const ONNXTensorElementDataType type = OrtFromDType(dtype);
    if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
      ExpectRefused(value.status(), "lacks the element type");
      continue;
    }
    if (dtype.is_complex()) {  // ONNX Runtime has the types, but no such tensors
      EXPECT_EQ(value.status().code(), absl::StatusCode::kUnimplemented) << value.status();
      continue;
    }
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->GetTensorTypeAndShapeInfo().GetElementType(), type);
    const Tensor back = *FromOrtValue(*std::move(value));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.raw_data(), memory.data());
  }
}

TEST(AsOrtValue, WhatOnnxRuntimeRefusesKeepsNothing) {
  std::complex<float> data[1];
  int released = 0;
  EXPECT_FALSE(AsOrtValue(Counted(data, {1}, {1}, Device::Cpu(), &released)).ok());
  EXPECT_EQ(released, 1);
}

TEST(AsOrtValue, ANumberHasNoDimensions) {
  const Ort::Value value = *AsOrtValue(*Tensor::Wrap(std::vector<float>{7}, {}));
  EXPECT_EQ(value.GetTensorTypeAndShapeInfo().GetDimensionsCount(), 0u);
  EXPECT_EQ(*value.GetTensorData<float>(), 7);
}

TEST(AsOrtValue, NoElementsKeepTheirShapeAndNoMemory) {
  float data[1];
  int released = 0;
  const Ort::Value value = *AsOrtValue(Counted(data, {2, 0}, {1, 1}, Device::Cpu(), &released));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(value.GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(ViewOf(value)->nbytes(), 0);
}

TEST(AsOrtValue, AReadOnlyTensorIsRefusedUnlessItIsAnInput) {
  const float data[] = {1, 2};
  int released = 0;
  const Tensor tensor = Counted(data, {2}, {1}, Device::Cpu(), &released);
  ExpectRefused(AsOrtValue(tensor).status(), "AsOrtInput");
  const absl::StatusOr<Ort::Value> input = AsOrtInput(tensor);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->GetTensorRawData(), data);
}

TEST(AsOrtValue, ANullTensorIsRefused) {
  ExpectRefused(AsOrtValue(Tensor()).status(), "null tensor");
  ExpectRefused(AsOrtInput(Tensor()).status(), "null tensor");
}

TEST(AsOrtValue, StridesAreRefusedWithTheRemedy) {
  float data[6];
  int released = 0;
  const Tensor tensor = Counted(data, {2, 3}, {3, 1}, Device::Cpu(), &released);
  const std::string remedy = "Copied(tensor)";
  ExpectRefused(AsOrtValue(*tensor.Transpose(0, 1)).status(), remedy);
  ExpectRefused(AsOrtValue(*tensor.Slice(1, {.step = -1})).status(), remedy);
  ExpectRefused(AsOrtValue(*tensor.Slice(1, {.step = 2})).status(), remedy);
  ExpectRefused(AsOrtInput(*tensor.BroadcastTo({2, 2, 3})).status(), remedy);
}

TEST(AsOrtValue, StridesOfSingleElementsDoNotMatter) {
  float data[3];
  int released = 0;
  EXPECT_TRUE(AsOrtValue(Counted(data, {1, 3}, {77, 1}, Device::Cpu(), &released)).ok());
}

TEST(AsOrtValue, MisalignedMemoryIsRefused) {
  alignas(8) std::array<std::byte, 32> memory{};
  ExpectRefused(AsOrtValue(Over(memory.data() + 2, kFloat32, {2})).status(), "not aligned");
  EXPECT_TRUE(AsOrtValue(Over(memory.data() + 2, kFloat16, {2})).ok());
  EXPECT_TRUE(AsOrtValue(Over(memory.data() + 1, kInt4, {3})).ok());
}

TEST(AsOrtValue, PaddedSubByteElementsAreRefused) {
  std::array<std::byte, 4> memory{};
  const Tensor padded = *Tensor::Make(Storage::Adopt(memory.data(), 4, Device::Cpu(), {}), 0, kInt4,
                                      *Layout::Contiguous({4}), {.packing = Packing::kPadded});
  ExpectRefused(AsOrtValue(padded).status(), "Copied(tensor)");
}

TEST(AsOrtValue, PackedElementsKeepTheirNibbles) {
  std::array<uint8_t, 2> memory = {0x21, 0x03};  // 1, 2, 3
  const Ort::Value value = *AsOrtValue(Over(memory.data(), kUInt4, {3}));
  EXPECT_EQ(static_cast<const uint8_t*>(value.GetTensorRawData())[0], 0x21);
  EXPECT_EQ(ViewOf(value)->nbytes(), 2);
}

TEST(AsOrtValue, VectorTypesAreRefused) {
  alignas(16) std::array<std::byte, 16> memory{};
  ExpectRefused(
      AsOrtValue(Over(memory.data(), *DType::Make(TypeKind::kFloat, 32, 2), {1})).status(),
      "lacks the element type");
}

TEST(AsOrtValue, MemoryOfGpusGoesThereAndBack) {
  float data[2];
  for (const Device device : {Device::Cuda(0), Device::Cuda(3), Device{DeviceType::kCudaHost, 0},
                              Device::Rocm(0), Device{DeviceType::kRocmHost, 0}}) {
    SCOPED_TRACE(device);
    int released = 0;
    {
      absl::StatusOr<Ort::Value> value = AsOrtValue(Counted(data, {2}, {1}, device, &released));
      ASSERT_TRUE(value.ok()) << value.status();
      const Tensor back = *FromOrtValue(*std::move(value));
      EXPECT_EQ(back.device(), device);
      EXPECT_EQ(back.raw_data(), data);
      EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
  }
}

TEST(AsOrtValue, DevicesThatOnnxRuntimeLacksAreRefused) {
  float data[2];
  int released = 0;
  ExpectRefused(
      AsOrtValue(Counted(data, {2}, {1}, Device{DeviceType::kMetal, 0}, &released)).status(),
      "Device::Cpu()");
}

// An allocator in a page that is unmapped when its block comes back.
struct Vanishing : OrtAllocator {
  static Vanishing* Make() {
    void* page = mmap(nullptr, sizeof(Vanishing), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* made = new (page) Vanishing();
    made->version = ORT_API_VERSION;
    made->Alloc = [](OrtAllocator*, size_t) -> void* { return Block(); };
    made->Free = [](OrtAllocator* self, void*) { munmap(self, sizeof(Vanishing)); };
    made->Info = [](const OrtAllocator*) { return internal_onnxruntime::CpuMemoryInfo(); };
    return made;
  }
  static void* Block() {
    static float block[1];
    return block;
  }
};

TEST(Lease, AnAllocatorIsNotUsedAfterItsBlockCameBack) {
  const int64_t shape[] = {1};
  for (int i = 0; i < 3; ++i) {
    const Ort::Value value = Ort::Value::CreateTensor<float>(Vanishing::Make(), shape, 1);
    EXPECT_EQ(value.GetTensorRawData(), Vanishing::Block());
  }
}

TEST(Lease, LessMemoryThanTheTypeNeedsIsNotLent) {
  float data[1];
  int released = 0;
  const Tensor tensor = Counted(data, {1}, {1}, Device::Cpu(), &released);
  // More bytes than the tensor has.
  const absl::StatusOr<Ort::Value> value =
      internal_onnxruntime::LeaseOut(tensor, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE);
  EXPECT_EQ(value.status().code(), absl::StatusCode::kInternal) << value.status();
  EXPECT_EQ(tensor.storage()->use_count(), 1);
}

TEST(AsOrtValue, TheHostWaitsForPendingWork) {
  FakeLog log;
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  const Tensor tensor = *Tensor::Empty({2}, kFloat32, Device::Cuda(0));
  const Stream stream = FakeStream(Device::Cuda(0), 7);
  tensor.storage()->RecordUse(stream);
  const Ort::Value value = *AsOrtInput(tensor);
  EXPECT_THAT(log.synchronized, testing::Contains(stream));
}

}  // namespace
}  // namespace dovetail
