// The GPU that a test of this folder runs on. The environment variable DOVETAIL_TEST_GPU names it:
// "cuda", "rocm", or "emulator" (the default, for machines without a GPU).
//
//   class MyTest : public OnGpu {};
//   TEST_F(MyTest, …) { Tensor t = *Tensor::Empty({2}, kFloat32, device()); … }
//
// If that GPU is missing, the test is skipped with the reason.

#ifndef DOVETAIL_TESTS_REAL_GPU_DEVICE_UNDER_TEST_H_
#define DOVETAIL_TESTS_REAL_GPU_DEVICE_UNDER_TEST_H_

#include <cstdlib>
#include <string>

#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/register_all.h"
#include "dovetail/tests/emulator/emulator.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class OnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* wanted = std::getenv("DOVETAIL_TEST_GPU");
    const std::string name = wanted != nullptr ? wanted : "emulator";
    device_ = name == "rocm" ? Device::Rocm(0) : Device::Cuda(0);
    if (name == "emulator" && Registry::Global().Find(DeviceType::kCuda) == nullptr) {
      emulator::EmulatorOptions options;
      options.device_bytes = size_t{256} << 20;
      static const auto* const emulated = new emulator::Emulator(options);
      EXPECT_TRUE(gpu::RegisterGpuBackend(Registry::Global(), emulated->api()).ok());
    }
    RegisterAllBackends();
  }
  void SetUp() override {
    absl::StatusOr<DeviceBackend*> backend = BackendFor(device_);
    ASSERT_TRUE(backend.ok()) << backend.status();
    backend_ = *backend;
    const absl::StatusOr<int> count = backend_->DeviceCount();
    if (!count.ok()) GTEST_SKIP() << "no device: " << count.status().message();
  }

  Device device() const { return device_; }
  DeviceBackend& backend() const { return *backend_; }

 private:
  inline static Device device_;
  DeviceBackend* backend_ = nullptr;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_REAL_GPU_DEVICE_UNDER_TEST_H_
