#include "dovetail/devices/cpu/backend.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/devices/cpu/allocator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Stream kStream = Stream::Default(Device::Cpu());

class CpuBackendTest : public testing::Test {
 protected:
  std::unique_ptr<DeviceBackend> cpu = MakeCpuBackend();
  static constexpr Device kSecond{DeviceType::kCpu, 1};
};

TEST_F(CpuBackendTest, ThereIsOneCpu) {
  EXPECT_EQ(cpu->name(), "cpu");
  EXPECT_EQ(*cpu->DeviceCount(), 1);
  EXPECT_THAT(cpu->device_types(), ElementsAre(DeviceType::kCpu));
  EXPECT_TRUE(cpu->GetAllocator(Device::Cpu(), MemoryKind::kDevice).ok());
  EXPECT_EQ(cpu->GetAllocator(kSecond, MemoryKind::kDevice).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(cpu->CreateStream(kSecond).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(cpu->DecodeStream(kSecond, std::nullopt).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CpuBackendTest, PinnedAndManagedMemoryBelongToGpus) {
  for (MemoryKind kind : {MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    EXPECT_EQ(cpu->GetAllocator(Device::Cpu(), kind).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// The array API standard: None only; -1 is accepted too, since it asks for nothing.
// Rule 48.
TEST_F(CpuBackendTest, StreamCodesAreNoneAndMinusOne) {
  EXPECT_TRUE(cpu->DecodeStream(Device::Cpu(), std::nullopt).ok());
  EXPECT_FALSE(cpu->DecodeStream(Device::Cpu(), std::nullopt)->stream.has_value());
  EXPECT_TRUE(cpu->DecodeStream(Device::Cpu(), -1).ok());
  for (int64_t code : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{-2}, INT64_MAX}) {
    EXPECT_EQ(cpu->DecodeStream(Device::Cpu(), code).status().code(),
              absl::StatusCode::kInvalidArgument)
        << code;
  }
  EXPECT_EQ(*cpu->EncodeStream(kStream), std::nullopt);
}

TEST_F(CpuBackendTest, WorkIsDoneWhenTheCallReturns) {
  const Stream stream = *cpu->CreateStream(Device::Cpu());
  const Event event = *cpu->Record(stream);
  EXPECT_TRUE(*cpu->Query(event));
  EXPECT_TRUE(cpu->Wait(stream, event).ok());
  EXPECT_TRUE(cpu->Synchronize(stream).ok());
}

TEST_F(CpuBackendTest, MemoryThatTheHostCantReachIsNotCopied) {
  int32_t value = 1;
  const TensorView here{.data = &value, .dtype = kInt32};
  const TensorView there{.data = &value, .device = Device::Cuda(0), .dtype = kInt32};
  EXPECT_EQ(cpu->Copy(here, there, kStream).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cpu->Copy(there, here, kStream).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CpuBackendTest, RegisteringTwiceIsRefused) {
  Registry registry;
  EXPECT_TRUE(RegisterCpuBackend(registry).ok());
  EXPECT_EQ(RegisterCpuBackend(registry).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(CpuBackendTest, TensorsAreMadeAndCopiedThroughIt) {
  ScopedBackendOverride global(MakeCpuBackend());
  const Tensor t = *Tensor::Empty({2, 3}, kInt64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw_data()) % kAllocationAlignment, 0u);
  for (int64_t i = 0; i < 6; ++i) (*t.data<int64_t>())[i] = i;
  const Tensor y = *AsContiguous(*t.Transpose(0, 1));
  const int64_t* p = *y.data<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(p, p + 6), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(Tensor::Empty({1}, kInt64, kSecond).status().code(), absl::StatusCode::kNotFound);
}

// The fast path makes the same tensors as the general one, at sizes around its limits.
TEST_F(CpuBackendTest, NewTensorsOfAllShapesAndTypesAreCountedDescribedAndGivenBack) {
  ScopedBackendOverride global(MakeCpuBackend());
  Allocator* allocator = Registry::Global().host_allocator();
  const AllocatorStats before = allocator->Stats();
  const std::vector<std::vector<int64_t>> shapes = {
      {},     {0}, {1}, {7}, {3, 0, 2}, {2, 3, 5}, {1, 1, 2, 1, 1, 3}, {1, 2, 1, 2, 1, 2, 1, 2},
      {70000}};
  constexpr DType kThree{kInt4.kind, 4, 3}, kFour{kFloat32.kind, 32, 4};
  for (DType dtype : {kUInt8, kInt64, kComplex128, kInt4, kThree, kFour}) {
    for (const std::vector<int64_t>& shape : shapes) {
      const Tensor t = *Tensor::Empty(shape, dtype);
      int64_t count = 1;
      for (int64_t size : shape) count *= size;
      const int64_t nbytes = (count * dtype.element_bits() + 7) / 8;
      EXPECT_EQ(t.storage()->nbytes(), static_cast<size_t>(nbytes)) << t;
      EXPECT_EQ(allocator->Stats().allocated_bytes - before.allocated_bytes, nbytes) << t;
      EXPECT_EQ(t.shape(), absl::MakeSpan(shape));
      EXPECT_EQ(t.dtype(), dtype);
      EXPECT_TRUE(t.is_contiguous() && !t.is_read_only() && t.byte_offset() == 0) << t;
    }
  }
  EXPECT_EQ(allocator->Stats().allocated_bytes, before.allocated_bytes);
}

TEST_F(CpuBackendTest, ATensorThatCannotBeMadeLeavesNothing) {
  ScopedBackendOverride global(MakeCpuBackend());
  const AllocatorStats before = Registry::Global().host_allocator()->Stats();
  Tensor t = *Tensor::Empty({4}, kInt64);
  constexpr int64_t kHuge = int64_t{1} << 58;
  EXPECT_EQ(internal_tensor::MakeEmpty({kHuge}, kInt64, Device::Cpu(), &t).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(t.is_null());
  EXPECT_EQ(internal_tensor::MakeEmpty({kHuge, kHuge}, kInt64, Device::Cpu(), &t).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(internal_tensor::MakeEmpty({-1}, kInt64, Device::Cpu(), &t).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Registry::Global().host_allocator()->Stats().allocated_bytes, before.allocated_bytes);
}

// The header of a small block is the tensor's Storage. Each tensor starts with a new one, whatever
// the block held before.
TEST_F(CpuBackendTest, SmallMemoryAndItsStorageAreUsedAgainTogether) {
  ScopedBackendOverride global(MakeCpuBackend());
  Allocator* allocator = Registry::Global().host_allocator();
  const void* last = nullptr;
  for (int64_t round = 1; round <= 8; ++round) {
    Tensor t = *Tensor::Empty({round}, kInt64);
    const void* storage = t.storage().get();
    EXPECT_EQ(static_cast<const char*>(t.raw_data()) - static_cast<const char*>(storage), 256);
    if (!kAddressSanitizer && last != nullptr) {
      EXPECT_EQ(storage, last);
    }
    EXPECT_EQ(t.storage()->use_count(), 1);
    EXPECT_EQ(t.storage()->nbytes(), static_cast<size_t>(8 * round));
    EXPECT_EQ(t.storage()->uses(), nullptr);
    if (round % 2 == 0) t.storage()->RecordUse(Event(Device::Cpu(), nullptr));
    // The last reference is dropped by an atomic subtraction or a plain one.
    if (round % 3 == 0) std::thread([copy = t]() mutable { copy = Tensor(); }).join();
    last = storage;
    t = Tensor();
    if (round % 4 == 0) {
      void* data = *allocator->Allocate(100, kStream);
      std::memset(data, 0xff, 100);
      allocator->Deallocate(data, 100, nullptr);
    }
  }
}

// Another backend's allocator is used although this thread has a cached block of that size.
TEST_F(CpuBackendTest, WhatIsKeptIsForTheBackendThatGivesIt) {
  ScopedBackendOverride global(MakeCpuBackend());
  (void)*Tensor::Empty({4}, kInt64);
  FakeLog log;
  {
    ScopedBackendOverride fake(std::make_unique<FakeBackend>(std::vector{DeviceType::kCpu}, &log));
    const Tensor t = *Tensor::Empty({4}, kInt64);
    EXPECT_EQ(log.allocated, 1);
  }
  (void)*Tensor::Empty({4}, kInt64);
  EXPECT_EQ(log.allocated, 1);
}

}  // namespace
}  // namespace dovetail
