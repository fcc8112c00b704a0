// The suite on emulated GPUs: both vendors, with and without kernels, pools and eager schedules.

#include <utility>

#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/testing/backend_conformance.h"
#include "dovetail/tests/emulator/emulator.h"
#include "gmock/gmock.h"

namespace dovetail {
namespace {

using emulator::Emulator;
using emulator::EmulatorOptions;

class EmulatedEnvironment final : public ConformanceEnvironment {
 public:
  // `through_abi`: used through the C struct, like a backend from another shared object.
  explicit EmulatedEnvironment(EmulatorOptions options, bool through_abi)
      : gpu_(std::move(options)) {
    std::unique_ptr<DeviceBackend> made = gpu::MakeGpuBackend(gpu_.api());
    if (through_abi) made = *ImportBackend(ExportBackend(std::move(made)));
    backend_ = made.get();
    scope_.emplace(std::move(made));
  }
  DeviceBackend& backend() override { return *backend_; }
  void Check() override {
    scope_.reset();
    EXPECT_THAT(gpu_.Complaints(), testing::IsEmpty());
  }

 private:
  Emulator gpu_;
  DeviceBackend* backend_;
  std::optional<ScopedBackendOverride> scope_;
};

ConformanceCase Case(std::string name, EmulatorOptions options, bool through_abi = false) {
  return {.name = std::move(name),
          .make = [=] { return std::make_unique<EmulatedEnvironment>(options, through_abi); },
          .exclusions = {}};
}

INSTANTIATE_TEST_SUITE_P(
    Emulated, BackendConformance,
    testing::Values(Case("cuda", {.vendor = &gpu::kCudaTraits}),
                    Case("rocm", {.vendor = &gpu::kRocmTraits}),
                    Case("cuda_through_abi", {.vendor = &gpu::kCudaTraits}, /*through_abi=*/true),
                    Case("cuda_eager", {.vendor = &gpu::kCudaTraits, .seed = 1}),
                    Case("cuda_old", {.vendor = &gpu::kCudaTraits,
                                      .has_context_events = false,
                                      .has_stream_device = false}),
                    Case("rocm_bare", {.vendor = &gpu::kRocmTraits,
                                       .devices = 1,
                                       .has_pools = false,
                                       .has_managed = false,
                                       .has_kernels = false,
                                       .has_context_events = false})),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dovetail
