#include "dovetail/interop/onnxruntime/import.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/type_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

Ort::MemoryInfo Cpu() { return Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault); }

Ort::Value Floats(std::vector<float>& values, const std::vector<int64_t>& shape) {
  return Ort::Value::CreateTensor<float>(Cpu(), values.data(), values.size(), shape.data(),
                                         shape.size());
}

// An allocator of one block that counts how often it comes back.
struct Counting : OrtAllocator {
  Counting() : OrtAllocator{.version = ORT_API_VERSION} {
    Alloc = [](OrtAllocator* self, size_t) -> void* {
      return static_cast<Counting*>(self)->block.data();
    };
    Free = [](OrtAllocator* self, void*) { ++static_cast<Counting*>(self)->freed; };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
      return static_cast<const Counting*>(self)->info;
    };
  }
  alignas(16) std::array<std::byte, 64> block{};
  Ort::MemoryInfo info = Cpu();
  int freed = 0;
};

Ort::Value Counted(Counting* allocator) {
  const int64_t shape[] = {2, 3};
  return Ort::Value::CreateTensor<float>(allocator, shape, 2);
}

void ExpectRefused(const absl::Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

TEST(FromOrtValue, TheValueIsReleasedOnceWithTheLastReference) {
  Counting allocator;
  {
    absl::StatusOr<Tensor> tensor = FromOrtValue(Counted(&allocator));
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->raw_data(), allocator.block.data());
    EXPECT_EQ(tensor->shape(), absl::MakeConstSpan({int64_t{2}, int64_t{3}}));
    EXPECT_EQ(tensor->strides(), absl::MakeConstSpan({int64_t{3}, int64_t{1}}));
    EXPECT_EQ(tensor->device(), Device::Cpu());
    EXPECT_FALSE(tensor->is_read_only());
    const Tensor view = *tensor->Select(0, 1);
    *tensor = Tensor();
    EXPECT_EQ(allocator.freed, 0);
    EXPECT_EQ(view.raw_data(), allocator.block.data() + 12);
  }
  EXPECT_EQ(allocator.freed, 1);
}

TEST(FromOrtValue, TheValueMayBeReleasedOnAnotherThread) {
  Counting allocator;
  Tensor tensor = *FromOrtValue(Counted(&allocator));
  std::thread([&] { tensor = Tensor(); }).join();
  EXPECT_EQ(allocator.freed, 1);
}

TEST(FromOrtValue, TheValueIsEmptyAfterwards) {
  std::vector<float> values(2);
  Ort::Value value = Floats(values, {2});
  EXPECT_TRUE(FromOrtValue(std::move(value)).ok());
  EXPECT_EQ(static_cast<OrtValue*>(value), nullptr);
}

TEST(FromOrtValue, ARefusedValueStaysAsItWas) {
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t shape[] = {2};
  Ort::Value value =
      Ort::Value::CreateTensor(allocator, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  ExpectRefused(FromOrtValue(std::move(value)).status(), "strings");
  EXPECT_NE(static_cast<OrtValue*>(value), nullptr);
}

TEST(ViewOfOrtValue, AViewBorrowsAndAConstOneIsReadOnly) {
  Counting allocator;
  Ort::Value value = Counted(&allocator);
  {
    const Tensor view = *ViewOf(value);
    EXPECT_EQ(view.raw_data(), allocator.block.data());
    EXPECT_FALSE(view.is_read_only());
    EXPECT_FALSE(ViewOf(value.GetUnowned())->is_read_only());
    EXPECT_TRUE(ViewOf(value.GetConst())->is_read_only());
    EXPECT_TRUE(ViewOf(std::as_const(value))->is_read_only());
  }
  EXPECT_EQ(allocator.freed, 0);
}

template <typename T>
concept Viewable = requires(T&& value) { ViewOf(std::forward<T>(value)); };
template <typename T>
concept Importable = requires(T&& value) { FromOrtValue(std::forward<T>(value)); };

TEST(ViewOfOrtValue, NeitherDanglesNorTakesWithoutBeingAsked) {
  static_assert(!Viewable<Ort::Value> && Viewable<Ort::Value&> && Viewable<const Ort::Value&>);
  static_assert(Importable<Ort::Value> && !Importable<Ort::Value&> &&
                !Importable<const Ort::Value&>);
}

TEST(ViewOfOrtValue, EveryElementTypeComesInAsItIs) {
  alignas(16) std::array<std::byte, 64> memory{};
  for (const auto& [type, dtype] : internal_onnxruntime::kTypes) {
    SCOPED_TRACE(dtype);
    const int64_t shape[] = {3};  // an odd count of sub-byte elements
    const auto nbytes = static_cast<size_t>(BytesWithoutGaps(3, dtype, Packing::kPacked));
    OrtValue* made = nullptr;
    const absl::Status status =
        internal_onnxruntime::TakeOrtStatus(Ort::GetApi().CreateTensorWithDataAsOrtValue(
            Cpu(), memory.data(), nbytes, shape, 1, type, &made));
    if (!status.ok()) {  // this library has no such tensors
      EXPECT_EQ(dtype.kind, TypeKind::kComplex) << status;
      continue;
    }
    const Ort::Value value(made);
    const absl::StatusOr<Tensor> tensor = ViewOf(value);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->dtype(), dtype);
    EXPECT_EQ(tensor->nbytes(), static_cast<int64_t>(nbytes));
    EXPECT_EQ(tensor->packing(), Packing::kPacked);
    EXPECT_EQ(tensor->raw_data(), memory.data());
  }
}

TEST(ViewOfOrtValue, ANumberHasNoDimensions) {
  std::vector<float> values = {7};
  Ort::Value value = Floats(values, {});
  const Tensor tensor = *ViewOf(value);
  EXPECT_EQ(tensor.rank(), 0);
  EXPECT_EQ(**tensor.data<float>(), 7);
}

TEST(ViewOfOrtValue, NoElementsKeepTheirShape) {
  std::vector<float> none;
  Ort::Value value = Floats(none, {2, 0, 3});
  const Tensor tensor = *ViewOf(value);
  EXPECT_EQ(tensor.shape(), absl::MakeConstSpan({int64_t{2}, int64_t{0}, int64_t{3}}));
  EXPECT_EQ(tensor.nbytes(), 0);
}

TEST(ViewOfOrtValue, ManyDimensionsComeInUpToTheLimitOfTensors) {
  std::vector<float> values = {1};
  Ort::Value most = Floats(values, std::vector<int64_t>(Layout::kMaxRank, 1));
  EXPECT_EQ(ViewOf(most)->rank(), Layout::kMaxRank);
  Ort::Value more = Floats(values, std::vector<int64_t>(Layout::kMaxRank + 1, 1));
  ExpectRefused(ViewOf(more).status(), "65 dimensions");
}

TEST(ViewOfOrtValue, MemoryOfGpusKeepsItsDevice) {
  float data[2];
  const int64_t shape[] = {2};
  const auto device_of = [&](const char* name, int id, OrtMemType type) {
    const Ort::MemoryInfo info(name, OrtDeviceAllocator, id, type);
    Ort::Value value = Ort::Value::CreateTensor<float>(info, data, 2, shape, 1);
    return ViewOf(value)->device();
  };
  EXPECT_EQ(device_of("Cuda", 1, OrtMemTypeDefault), Device::Cuda(1));
  EXPECT_EQ(device_of("CudaPinned", 1, OrtMemTypeCPUOutput), (Device{DeviceType::kCudaHost, 0}));
  EXPECT_EQ(device_of("Cpu", 0, OrtMemTypeDefault), Device::Cpu());
}

TEST(ViewOfOrtValue, MemoryOfOtherDevicesIsRefusedByName) {
  float data[2];
  const int64_t shape[] = {2};
  const Ort::MemoryInfo info("DML", OrtDeviceAllocator, 0, OrtMemTypeDefault);
  Ort::Value value = Ort::Value::CreateTensor<float>(info, data, 2, shape, 1);
  ExpectRefused(ViewOf(value).status(), "\"DML\"");
}

TEST(ViewOfOrtValue, ElementsWithoutMemoryAreRefused) {
  const int64_t shape[] = {2};
  Ort::Value value = Ort::Value::CreateTensor<float>(Cpu(), nullptr, 2, shape, 1);
  ExpectRefused(ViewOf(value).status(), "no memory");
}

TEST(ViewOfOrtValue, AnEmptyValueIsRefused) {
  Ort::Value none{nullptr};
  ExpectRefused(ViewOf(none).status(), "it is empty");
  ExpectRefused(FromOrtValue(Ort::Value{nullptr}).status(), "it is empty");
}

TEST(ViewOfOrtValue, SequencesMapsAndSparseTensorsAreRefusedWithTheRemedy) {
  std::vector<float> values = {1, 2};
  std::vector<Ort::Value> elements;
  elements.push_back(Floats(values, {2}));
  Ort::Value sequence = Ort::Value::CreateSequence(elements);
  ExpectRefused(ViewOf(sequence).status(), "a sequence. Take its elements");

  std::vector<int64_t> numbers = {1, 2};
  const int64_t shape[] = {2};
  const Ort::Value keys = Ort::Value::CreateTensor<int64_t>(Cpu(), numbers.data(), 2, shape, 1);
  Ort::Value map = Ort::Value::CreateMap(keys, elements[0]);
  ExpectRefused(ViewOf(map).status(), "a map. Take its keys");

  const int64_t dense[] = {3, 3};
  Ort::Value sparse =
      Ort::Value::CreateSparseTensor<float>(Cpu(), values.data(), {dense, 2}, {shape, 1});
  ExpectRefused(ViewOf(sparse).status(), "a sparse tensor. Wrap its values");
}

TEST(TypeTable, NumbersOutsideTheTableHaveNoType) {
  EXPECT_EQ(DTypeFromOrt(ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED), std::nullopt);
  EXPECT_EQ(DTypeFromOrt(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING), std::nullopt);
  EXPECT_EQ(DTypeFromOrt(static_cast<ONNXTensorElementDataType>(27)), std::nullopt);
}

}  // namespace
}  // namespace dovetail
