// A test on an emulated GPU: the emulator, and the GPU backend over it, registered for the test.
//
//   class MyTest : public EmulatedGpu {};
//   TEST_F(MyTest, …) { Tensor t = *Tensor::Empty({2}, kFloat32, device(0)); … }
//
// At the end of each test the emulator must have no complaints; a test that expects some takes
// them. Only one thread at a time may create or destroy a fixture.

#ifndef DOVETAIL_TESTS_EMULATOR_FIXTURE_H_
#define DOVETAIL_TESTS_EMULATOR_FIXTURE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/tests/emulator/emulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// 0, 1, 2, … as int32 on the CPU, row-major.
inline Tensor Counting(absl::Span<const int64_t> shape) {
  Tensor t = *Tensor::Empty(shape, kInt32);
  auto* data = static_cast<int32_t*>(t.raw_data());
  std::iota(data, data + t.num_elements(), 0);
  return t;
}

// The elements of a dense tensor in pinned memory of a device, from where copies are asynchronous.
inline Tensor Pinned(const Tensor& t, Device device) {
  const auto nbytes = static_cast<size_t>(t.nbytes());
  StorageRef storage = *Storage::Allocate(nbytes, device, MemoryKind::kPinnedHost);
  std::memcpy(storage->data(), t.raw_data(), nbytes);
  return *Tensor::Make(std::move(storage), 0, t.dtype(), t.layout(), {});
}

// The int32 elements of a tensor on any device, in row-major order.
inline std::vector<int32_t> Values(const Tensor& t) {
  const absl::StatusOr<Tensor> host = Copied(t, {.device = Device::Cpu()});
  EXPECT_TRUE(host.ok()) << host.status();
  if (!host.ok()) return {};
  const auto* data = static_cast<const int32_t*>(host->raw_data());
  return {data, data + host->num_elements()};
}

class EmulatedGpu : public testing::Test {
 protected:
  using Emulator = emulator::Emulator;
  using EmulatorOptions = emulator::EmulatorOptions;

  explicit EmulatedGpu(EmulatorOptions options = {}) { Start(std::move(options)); }

  // Starts again with a new emulator. All tensors must be gone.
  void Start(EmulatorOptions options) {
    backend_.reset();
    vendor_ = options.vendor;
    gpu_ = std::make_unique<Emulator>(std::move(options));
    std::unique_ptr<DeviceBackend> made = gpu::MakeGpuBackend(gpu_->api());
    backend_pointer_ = made.get();
    backend_.emplace(std::move(made));
  }

  void TearDown() override {
    backend_.reset();
    EXPECT_THAT(gpu_->TakeComplaints(), testing::IsEmpty());
  }

  Emulator& gpu() { return *gpu_; }
  DeviceBackend& backend() { return *backend_pointer_; }
  const gpu::VendorTraits& vendor() const { return *vendor_; }
  Device device(int index = 0) const { return {vendor_->device, index}; }
  Device pinned() const { return {vendor_->pinned, 0}; }
  Stream Borrow(NativeStream handle, int index = 0) const {
    return Stream::Borrow(device(index), handle);
  }
  Stream MakeStream(int index = 0) { return *backend().CreateStream(device(index)); }
  Tensor OnDevice(const Tensor& t, int index = 0) { return *Copied(t, {.device = device(index)}); }
  Allocator& AllocatorOf(Device d, MemoryKind kind = MemoryKind::kDevice) {
    return **backend().GetAllocator(d, kind);
  }

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
  const gpu::VendorTraits* vendor_ = nullptr;
  std::unique_ptr<Emulator> gpu_;
  DeviceBackend* backend_pointer_ = nullptr;
  std::optional<ScopedBackendOverride> backend_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_FIXTURE_H_
