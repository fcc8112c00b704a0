#include "dovetail/devices/register_default.h"

#include "dovetail/core/registry.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(RegisterDefault, NothingIsRegisteredUntilItIsCalledAndAgainChangesNothing) {
  EXPECT_TRUE(Registry::Global().Backends().empty());
  RegisterDefaultBackends();
  DeviceBackend* cpu = Registry::Global().Find(DeviceType::kCpu);
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->name(), "cpu");
  RegisterDefaultBackends();
  EXPECT_EQ(Registry::Global().Find(DeviceType::kCpu), cpu);
  EXPECT_EQ(Registry::Global().Backends().size(), 1u);
}

}  // namespace
}  // namespace dovetail
