#include <array>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/interop/cuda_array/export.h"
#include "dovetail/interop/cuda_array/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A backend with one vendor's stream codes. It owns all memory below `limit`.
class FakeGpu : public FakeBackend {
 public:
  FakeGpu(DeviceType type, FakeLog* log, std::optional<int64_t> default_code)
      : FakeBackend({type}, log), type_(type), default_code_(default_code) {}

  absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t> code) override {
    if (!code) return StreamRequest{Stream::Default(device)};
    if (*code == 666) return absl::InvalidArgumentError("No such stream.");
    return StreamRequest{Stream::Borrow(device, NativeStream{static_cast<uintptr_t>(*code)})};
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) override {
    if (stream == Stream::Default(stream.device())) return default_code_;
    return static_cast<int64_t>(stream.native());
  }
  absl::StatusOr<int> DeviceCount() override { return devices; }
  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) override {
    if (data != known) return absl::NotFoundError("Not mine.");
    return PointerAttributes{Device{type_, 1}, MemoryKind::kDevice, nullptr, 0};
  }

  absl::StatusOr<Event> Record(const Stream& stream) override {
    if (!can_record) return absl::InternalError("No event.");
    return FakeBackend::Record(stream);
  }
  absl::Status Wait(const Stream& stream, const Event& event) override {
    if (!can_wait) return absl::InternalError("No wait.");
    return FakeBackend::Wait(stream, event);
  }

  int devices = 2;
  const void* known = nullptr;
  bool can_record = true, can_wait = true;

 private:
  DeviceType type_;
  std::optional<int64_t> default_code_;
};

class CudaArray : public testing::Test {
 protected:
  std::array<float, 6> memory = {};
  std::vector<int64_t> shape = {2, 3};
  int released = 0;
  FakeLog log;
  Tensor tensor;

  CudaArrayDescription Describe(std::optional<int64_t> stream = std::nullopt) {
    return {.array = {.typestr = "<f4", .shape = shape, .data = memory.data()},
            .version = 3,
            .stream = stream};
  }
  absl::Status Import(const CudaArrayDescription& array) {
    return ImportCudaArray(array, {[](void* count) { ++*static_cast<int*>(count); }, &released},
                           &tensor);
  }
  std::string Refusal(const CudaArrayDescription& array) {
    const int before = released;
    absl::Status status = Import(array);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(tensor.is_null());
    EXPECT_EQ(released, before + 1) << "taken over, and so let go of, in failure too";
    return std::string(status.message());
  }
  FakeGpu* Serve(std::optional<ScopedBackendOverride>& scope, DeviceType type,
                 std::optional<int64_t> default_code) {
    auto gpu = std::make_unique<FakeGpu>(type, &log, default_code);
    FakeGpu* raw = gpu.get();
    raw->known = memory.data();
    scope.emplace(std::move(gpu));
    return raw;
  }
};

TEST_F(CudaArray, WithoutABackendItPassesThroughAsTheFirstCudaDevice) {
  ASSERT_TRUE(Import(Describe()).ok());
  EXPECT_EQ(tensor.device(), Device::Cuda(0));
  EXPECT_EQ(tensor.dtype(), kFloat32);
  EXPECT_EQ(tensor.raw_data(), memory.data());
  EXPECT_THAT(tensor.shape(), ElementsAre(2, 3));
  EXPECT_THAT(tensor.storage()->used_on(), IsEmpty());
  EXPECT_EQ(released, 0);
  tensor = Tensor();
  EXPECT_EQ(released, 1);
}

// Rule 59.
TEST_F(CudaArray, WithoutABackendTheStreamGoesOnWithTheMemory) {
  for (int64_t stream : {int64_t{1}, int64_t{2}, int64_t{0x7f0012345678}}) {
    ASSERT_TRUE(Import(Describe(stream)).ok());
    EXPECT_EQ(ExportCudaArray(tensor)->stream, stream);
  }
}

// Rule 59.
TEST_F(CudaArray, AStreamOf0OrBelowIsRefused) {
  EXPECT_THAT(Refusal(Describe(0)), HasSubstr("stream is 0"));
  EXPECT_THAT(Refusal(Describe(-1)), HasSubstr("stream is -1"));
}

// Rule 59.
TEST_F(CudaArray, OnlyVersions2And3AreUnderstood) {
  for (int version : {-1, 0, 1, 4}) {
    CudaArrayDescription array = Describe();
    array.version = version;
    EXPECT_THAT(Refusal(array), HasSubstr("version " + std::to_string(version)));
  }
  CudaArrayDescription array = Describe();
  array.version = 2;
  EXPECT_TRUE(Import(array).ok());
}

// Rule 59.
TEST_F(CudaArray, MasksAndBadDescriptionsAreRefused) {
  CudaArrayDescription array = Describe();
  array.array.has_mask = true;
  EXPECT_THAT(Refusal(array), HasSubstr("mask"));
  array = Describe();
  array.array.typestr = ">f4";
  EXPECT_THAT(Refusal(array), HasSubstr("byte order"));
  array = Describe();
  array.array.data = nullptr;
  EXPECT_THAT(Refusal(array), HasSubstr("no data"));
}

// Rule 59.
TEST_F(CudaArray, ABackendTellsTheDevice) {
  std::optional<ScopedBackendOverride> cuda, rocm;
  FakeGpu* cuda_gpu = Serve(cuda, DeviceType::kCuda, 1);
  FakeGpu* rocm_gpu = Serve(rocm, DeviceType::kRocm, 0);
  rocm_gpu->known = nullptr;
  ASSERT_TRUE(Import(Describe()).ok());
  EXPECT_EQ(tensor.device(), Device::Cuda(1));
  std::swap(cuda_gpu->known, rocm_gpu->known);
  ASSERT_TRUE(Import(Describe()).ok());
  EXPECT_EQ(tensor.device(), Device::Rocm(1));
}

TEST_F(CudaArray, WithoutElementsItIsOnTheFirstDevice) {
  CudaArrayDescription array = Describe();
  shape = {0, 3};
  array.array.shape = shape;
  array.array.data = nullptr;
  std::optional<ScopedBackendOverride> rocm;
  Serve(rocm, DeviceType::kRocm, 0);
  ASSERT_TRUE(Import(array).ok());
  EXPECT_EQ(tensor.device(), Device::Rocm(0));
}

TEST_F(CudaArray, MemoryOfNoKnownGpuIsRefusedWhereThereAreGpus) {
  std::optional<ScopedBackendOverride> cuda;
  FakeGpu* gpu = Serve(cuda, DeviceType::kCuda, 1);
  gpu->known = nullptr;
  EXPECT_THAT(Refusal(Describe()), HasSubstr("not in the memory of this process's GPUs"));
  gpu->devices = 0;  // a backend whose driver is absent knows no pointers
  ASSERT_TRUE(Import(Describe()).ok());
  EXPECT_EQ(tensor.device(), Device::Cuda(0));
}

// Rule 59.
TEST_F(CudaArray, OurStreamWaitsForTheProducers) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  ASSERT_TRUE(Import(Describe(7)).ok());
  const Device device = Device::Cuda(1);
  EXPECT_THAT(log.recorded, ElementsAre(Stream::Borrow(device, NativeStream{7})));
  EXPECT_THAT(log.waited, ElementsAre(Stream::Default(device)));
  EXPECT_THAT(tensor.storage()->used_on(), ElementsAre(Stream::Default(device)));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 1);
}

// Rule 59.
TEST_F(CudaArray, NoneMeansNoSynchronisation) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  ASSERT_TRUE(Import(Describe()).ok());
  EXPECT_THAT(log.recorded, IsEmpty());
  EXPECT_THAT(log.waited, IsEmpty());
  // The second time the memory has a consumer, on no stream that is known.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ExportCudaArray(tensor)->stream, std::nullopt);
}

// Rule 59.
TEST_F(CudaArray, TheDefaultStreamIs1OnBothVendors) {
  for (DeviceType type : {DeviceType::kCuda, DeviceType::kRocm}) {
    std::optional<ScopedBackendOverride> scope;
    // DLPack's code for the default stream is None on CUDA and 0 on ROCm.
    Serve(scope, type, type == DeviceType::kCuda ? std::optional<int64_t>() : 0);
    ASSERT_TRUE(Import(Describe(1)).ok());
    EXPECT_THAT(log.recorded, IsEmpty()) << "the producer's stream is ours";
    EXPECT_EQ(ExportCudaArray(tensor)->stream, 1);
  }
}

TEST_F(CudaArray, WhatTheBackendSaysOfTheStreamIsHandedOn) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  EXPECT_THAT(Refusal(Describe(666)), HasSubstr("No such stream"));
}

// Rule 59.
TEST_F(CudaArray, SeveralStreamsAreBroughtIntoOneOnExport) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  ASSERT_TRUE(Import(Describe()).ok());
  const Device device = tensor.device();
  tensor.storage()->RecordUse(FakeStream(device, 7));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 7);
  EXPECT_THAT(log.waited, IsEmpty());
  tensor.storage()->RecordUse(FakeStream(device, 8));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 1);
  EXPECT_THAT(log.recorded, ElementsAre(Stream::Borrow(device, NativeStream{7}),
                                        Stream::Borrow(device, NativeStream{8})));
  EXPECT_THAT(log.waited, ElementsAre(Stream::Default(device), Stream::Default(device)));
}

// A consumer takes the stream for one of the memory's device.
TEST_F(CudaArray, AStreamOfAnotherDeviceIsBroughtIntoOneOfTheMemorysOnExport) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  ASSERT_TRUE(Import(Describe()).ok());
  const Device device = tensor.device(), other = Device::Cuda(device.index + 1);
  tensor.storage()->RecordUse(FakeStream(other, 7));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 1);
  EXPECT_THAT(log.recorded, ElementsAre(Stream::Borrow(other, NativeStream{7})));
  EXPECT_THAT(log.waited, ElementsAre(Stream::Default(device)));
}

// Rule 59.
TEST_F(CudaArray, WorkOnABorrowedStreamIsWaitedForByItsEventOnExport) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1);
  ASSERT_TRUE(Import(Describe()).ok());
  const Device device = tensor.device();
  tensor.storage()->RecordUse(Stream::Borrow(device, NativeStream{9}));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 1);
  EXPECT_THAT(log.waited, ElementsAre(Stream::Default(device)));
  log.waited.clear();
  tensor.storage()->RecordUse(FakeStream(device, 7));
  EXPECT_EQ(ExportCudaArray(tensor)->stream, 1) << "stream 7 did not wait for the event";
  EXPECT_THAT(log.waited, ElementsAre(Stream::Default(device), Stream::Default(device)));
}

// Rule 59.
TEST_F(CudaArray, StreamsThatCannotBeOrderedAreAnError) {
  std::optional<ScopedBackendOverride> cuda;
  FakeGpu* gpu = Serve(cuda, DeviceType::kCuda, 1);
  gpu->can_record = false;
  EXPECT_THAT(Refusal(Describe(7)), HasSubstr("No event"));
  gpu->can_record = true;
  gpu->can_wait = false;
  EXPECT_THAT(Refusal(Describe(7)), HasSubstr("No wait"));
  ASSERT_TRUE(Import(Describe()).ok());
  for (const uintptr_t handle : {7, 8}) {
    tensor.storage()->RecordUse(FakeStream(tensor.device(), handle));
  }
  EXPECT_THAT(ExportCudaArray(tensor).status().message(), HasSubstr("No wait"));
}

TEST_F(CudaArray, SeveralStreamsOfADeviceWithoutADriverAreAnError) {
  std::optional<ScopedBackendOverride> cuda;
  Serve(cuda, DeviceType::kCuda, 1)->devices = 0;
  ASSERT_TRUE(Import(Describe()).ok());
  tensor.storage()->RecordUse(FakeStream(tensor.device(), 7));
  tensor.storage()->RecordUse(FakeStream(tensor.device(), 8));
  EXPECT_EQ(ExportCudaArray(tensor).status().code(), absl::StatusCode::kNotFound);
}

// Rule 59.
TEST_F(CudaArray, AnExportNamesTypeAndElement0) {
  ASSERT_TRUE(Import(Describe()).ok());
  const Tensor row = *tensor.Select(0, 1);
  absl::StatusOr<CudaArrayExport> out = ExportCudaArray(row);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->typestr, "<f4");
  EXPECT_EQ(out->data, &memory[3]);
  EXPECT_EQ(ExportCudaArray(*row.Slice(0, {.start = 3}))->data, nullptr) << "no elements, no data";
}

TEST_F(CudaArray, OnlyMemoryOfGpusIsExported) {
  for (DeviceType type : {DeviceType::kCuda, DeviceType::kRocm, DeviceType::kCudaManaged,
                          DeviceType::kCpu, DeviceType::kCudaHost, DeviceType::kOpenCL}) {
    const Tensor t = *Tensor::Make(Storage::Adopt(memory.data(), 24, {type, 0}, {}), 0, kFloat32,
                                   *Layout::Contiguous({6}), {});
    const bool is_gpu =
        type == DeviceType::kCuda || type == DeviceType::kRocm || type == DeviceType::kCudaManaged;
    EXPECT_EQ(ExportCudaArray(t).ok(), is_gpu) << t.device();
  }
}

TEST_F(CudaArray, ANullTensorIsNotExported) {
  EXPECT_EQ(ExportCudaArray(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CudaArray, MemoryThatNobodyLentIsRefusedAsOtherIs) {
  CudaArrayDescription array = Describe();
  array.version = 1;
  EXPECT_FALSE(ImportCudaArray(array, {}, &tensor).ok());
}

TEST_F(CudaArray, TypesWithoutATypeStringAreNotExported) {
  const Tensor t = *Tensor::Make(Storage::Adopt(memory.data(), 24, Device::Cuda(0), {}), 0,
                                 kBFloat16, *Layout::Contiguous({6}), {});
  EXPECT_THAT(ExportCudaArray(t).status().message(), HasSubstr("bfloat16"));
}

}  // namespace
}  // namespace dovetail
