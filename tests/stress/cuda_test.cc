// The stress test with the CUDA backend, over a libcuda.so.1 that emulates the driver.

#include "dovetail/core/registry.h"
#include "dovetail/devices/cuda/backend.h"
#include "dovetail/devices/register_default.h"
#include "dovetail/tests/stress/stress.h"

namespace dovetail::stress {
namespace {

TEST(StressTest, ThreadsOpenTheDriverAndShareItsMemoryAndStreams) {
  RegisterDefaultBackends();
  ASSERT_TRUE(RegisterCudaBackend(Registry::Global()).ok());
  Board board;
  std::vector<std::unique_ptr<Steps>> steps;
  steps.push_back(HostSteps(board));
  for (int i = 0; i < 3; ++i) {
    steps.push_back(GpuSteps(board, *Registry::Global().Find(DeviceType::kCuda)));
  }
  RunStress(board, steps);
}

}  // namespace
}  // namespace dovetail::stress
