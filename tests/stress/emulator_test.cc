// The stress test with emulated GPUs of both vendors.

#include "dovetail/tests/emulator/emulator.h"

#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/register_default.h"
#include "dovetail/tests/stress/stress.h"
#include "gmock/gmock.h"

namespace dovetail::stress {
namespace {

TEST(StressTest, ThreadsHandObjectsToEachOtherAndEachIsGivenBackOnce) {
  RegisterDefaultBackends();
  Board board;
  std::vector<std::unique_ptr<Steps>> steps;
  steps.push_back(IpcSteps(board));  // forks
  steps.push_back(RegistrySteps());
  for (int i = 0; i < 3; ++i) {
    steps.push_back(HostSteps(board));
    steps.push_back(ExchangeSteps(board));
  }
  emulator::Emulator cuda({.vendor = &gpu::kCudaTraits, .seed = 1});
  emulator::Emulator rocm({.vendor = &gpu::kRocmTraits});
  auto cuda_backend = gpu::MakeGpuBackend(cuda.api()),
       rocm_backend = gpu::MakeGpuBackend(rocm.api());
  DeviceBackend& on_cuda = *cuda_backend;
  DeviceBackend& on_rocm = *rocm_backend;
  const ScopedBackendOverride with_cuda(std::move(cuda_backend));
  const ScopedBackendOverride with_rocm(std::move(rocm_backend));
  for (int i = 0; i < 2; ++i) {
    steps.push_back(GpuSteps(board, on_cuda));
    steps.push_back(GpuSteps(board, on_rocm));
  }
  RunStress(board, steps);
  EXPECT_THAT(cuda.TakeComplaints(), testing::IsEmpty());
  EXPECT_THAT(rocm.TakeComplaints(), testing::IsEmpty());
}

}  // namespace
}  // namespace dovetail::stress
