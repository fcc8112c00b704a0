// A program that links neither the copies nor the shared memory of the CPU.

#include "dovetail/devices/cpu/parts.h"

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

class WithoutParts : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(RegisterCpuBackend(Registry::Global()).ok()); }

  const Tensor x = *Tensor::Empty({2, 3}, kFloat32);
};

TEST_F(WithoutParts, ACopyNamesTheTargetThatHasIt) {
  const absl::Status copied = Copied(x).status();
  EXPECT_EQ(copied.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(copied.message()), HasSubstr("@dovetail//:copy"));
}

TEST_F(WithoutParts, ACastNamesTheTargetThatHasIt) {
  const absl::Status cast = Copied(x, {.dtype = kFloat16}).status();
  EXPECT_EQ(cast.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(cast.message()), HasSubstr("@dovetail//:copy"));
}

TEST_F(WithoutParts, SharedMemoryNamesTheTargetThatHasIt) {
  const std::unique_ptr<DeviceBackend> cpu = MakeCpuBackend();
  const Device device = Device::Cpu();
  char memory[24];
  for (const absl::Status& status :
       {cpu->GetAllocator(device, MemoryKind::kShared).status(),
        cpu->ShareMemory(device, memory, 24, nullptr, Stream::Default(device)).status(),
        cpu->OpenMemory(DeviceType::kCpu, "name").status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("@dovetail//:ipc"));
  }
}

}  // namespace
}  // namespace dovetail
