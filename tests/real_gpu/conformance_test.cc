// The conformance suite of backends on the GPU that DOVETAIL_TEST_GPU names (device_under_test.h):
// "cuda", "rocm", or the emulator.

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/devices/cuda/runtime.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/rocm/runtime.h"
#include "dovetail/testing/backend_conformance.h"
#include "dovetail/tests/emulator/emulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

std::string Wanted() {
  const char* wanted = std::getenv("DOVETAIL_TEST_GPU");
  return wanted != nullptr ? wanted : "emulator";
}

const gpu::RuntimeApi* RealApi() {
  if (Wanted() == "cuda") return &gpu::CudaRuntimeApi();
  if (Wanted() == "rocm") return &gpu::RocmRuntimeApi();
  return nullptr;
}

// A new backend for each test, over the process's only copy of the vendor's library.
class GpuEnvironment final : public ConformanceEnvironment {
 public:
  explicit GpuEnvironment(const gpu::RuntimeApi* real) {
    if (real == nullptr) emulated_ = std::make_unique<emulator::Emulator>();
    auto made = gpu::MakeGpuBackend(real != nullptr ? *real : emulated_->api());
    backend_ = made.get();
    scope_ = std::make_unique<ScopedBackendOverride>(std::move(made));
  }
  DeviceBackend& backend() override { return *backend_; }
  void Check() override {
    scope_.reset();
    if (emulated_ != nullptr) {
      EXPECT_THAT(emulated_->Complaints(), testing::IsEmpty());
    }
  }

 private:
  std::unique_ptr<emulator::Emulator> emulated_;
  DeviceBackend* backend_ = nullptr;
  std::unique_ptr<ScopedBackendOverride> scope_;
};

// No cases if the device is missing; Device.IsThere says why.
std::vector<ConformanceCase> Cases() {
  const gpu::RuntimeApi* real = RealApi();
  std::string reason;
  if (real != nullptr && !real->load(real->self, &reason)) return {};
  return {{.name = Wanted(),
           .make = [real] { return std::make_unique<GpuEnvironment>(real); },
           .exclusions = {}}};
}

TEST(Device, IsThere) {
  const gpu::RuntimeApi* real = RealApi();
  std::string reason;
  if (real != nullptr && !real->load(real->self, &reason)) GTEST_SKIP() << "no device: " << reason;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BackendConformance);
INSTANTIATE_TEST_SUITE_P(OnGpu, BackendConformance, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dovetail
