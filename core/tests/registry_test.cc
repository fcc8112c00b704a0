#include "dovetail/core/registry.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kUnlisted = static_cast<DeviceType>(40);

std::unique_ptr<DeviceBackend> Fake(std::vector<DeviceType> types, FakeLog* log) {
  return std::make_unique<FakeBackend>(std::move(types), log);
}

TEST(Registry, IsEmptyUntilSomethingIsRegistered) {
  Registry registry;
  for (int code = -1; code <= Registry::kMaxDeviceTypes; ++code) {
    EXPECT_EQ(registry.Find(static_cast<DeviceType>(code)), nullptr) << code;
  }
  EXPECT_TRUE(registry.Backends().empty());
}

TEST(Registry, ABackendServesAllItsTypesAndNoOthers) {
  FakeLog log;
  Registry registry;
  ASSERT_TRUE(registry.Register(Fake({DeviceType::kCuda, kUnlisted}, &log)).ok());
  DeviceBackend* backend = registry.Find(DeviceType::kCuda);
  ASSERT_NE(backend, nullptr);
  EXPECT_EQ(backend->name(), "fake");
  EXPECT_EQ(registry.Find(kUnlisted), backend);
  EXPECT_EQ(registry.Find(DeviceType::kRocm), nullptr);
  EXPECT_THAT(registry.Backends(), ElementsAre(backend));
}

TEST(Registry, ASecondBackendForATypeIsRefusedAsAWhole) {
  FakeLog first, second;
  Registry registry;
  ASSERT_TRUE(registry.Register(Fake({DeviceType::kCuda}, &first)).ok());
  DeviceBackend* before = registry.Find(DeviceType::kCuda);
  absl::Status status = registry.Register(Fake({DeviceType::kRocm, DeviceType::kCuda}, &second));
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuda"));
  EXPECT_TRUE(second.destroyed);
  EXPECT_FALSE(first.destroyed);
  EXPECT_EQ(registry.Find(DeviceType::kCuda), before);
  EXPECT_EQ(registry.Find(DeviceType::kRocm), nullptr);
  EXPECT_THAT(registry.Backends(), ElementsAre(before));
}

TEST(Registry, ANullBackendIsRefused) {
  Registry registry;
  EXPECT_EQ(registry.Register(nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(registry.Backends().empty());
}

TEST(Registry, WithoutABackendForTheCpuTheErrorNamesTheCallThatIsMissing) {
  const absl::Status status = BackendFor(Device::Cpu()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("RegisterDefaultBackends()"));
}

TEST(Registry, TypesBeyondTheArrayAreRefused) {
  Registry registry;
  for (int code : {Registry::kMaxDeviceTypes, 1000000, -1}) {
    FakeLog log;
    absl::Status status = registry.Register(Fake({static_cast<DeviceType>(code)}, &log));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << code;
    EXPECT_TRUE(log.destroyed);
  }
  EXPECT_TRUE(registry.Backends().empty());
}

// A CPU backend with several allocators to choose from, as GPU backends have.
class ChoosyBackend final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  std::vector<std::string> AllocatorNames(Device, MemoryKind) override { return {"one", "other"}; }
};

TEST(Registry, KnowsTheHostAllocatorIfThereIsOnlyOne) {
  FakeLog cpu, cuda, other, choosy;
  Registry registry;
  ASSERT_TRUE(registry.Register(Fake({DeviceType::kCuda}, &cuda)).ok());
  EXPECT_EQ(registry.host_allocator(), nullptr);
  ASSERT_TRUE(registry.Register(Fake({DeviceType::kCpu}, &cpu)).ok());
  Allocator* allocator = registry.host_allocator();
  ASSERT_NE(allocator, nullptr);
  EXPECT_EQ(allocator,
            *registry.Find(DeviceType::kCpu)->GetAllocator(Device::Cpu(), MemoryKind::kDevice));
  {
    ScopedBackendOverride scope(Fake({DeviceType::kCpu}, &other), registry);
    EXPECT_NE(registry.host_allocator(), allocator);
  }
  EXPECT_EQ(registry.host_allocator(), allocator);
  {
    ScopedBackendOverride scope(
        std::make_unique<ChoosyBackend>(std::vector{DeviceType::kCpu}, &choosy), registry);
    EXPECT_EQ(registry.host_allocator(), nullptr);
  }
}

TEST(Registry, AnOverrideLastsAsLongAsItsScope) {
  FakeLog registered, inner, outer;
  Registry registry;
  ASSERT_TRUE(registry.Register(Fake({DeviceType::kCuda}, &registered)).ok());
  DeviceBackend* original = registry.Find(DeviceType::kCuda);
  {
    ScopedBackendOverride a(Fake({DeviceType::kCuda, DeviceType::kCudaHost}, &outer), registry);
    DeviceBackend* first = registry.Find(DeviceType::kCuda);
    EXPECT_NE(first, original);
    EXPECT_EQ(registry.Find(DeviceType::kCudaHost), first);
    {
      ScopedBackendOverride b(Fake({DeviceType::kCuda}, &inner), registry);
      EXPECT_NE(registry.Find(DeviceType::kCuda), first);
    }
    EXPECT_TRUE(inner.destroyed);
    EXPECT_EQ(registry.Find(DeviceType::kCuda), first);
  }
  EXPECT_TRUE(outer.destroyed);
  EXPECT_EQ(registry.Find(DeviceType::kCuda), original);
  EXPECT_EQ(registry.Find(DeviceType::kCudaHost), nullptr);
}

TEST(Registry, BackendForNamesTheDeviceThatNoBackendServes) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(Device::Rocm(3));
  EXPECT_EQ(backend.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(backend.status().message()), HasSubstr("rocm:3"));
  EXPECT_THAT(std::string(backend.status().message()),
              HasSubstr("RegisterRocmBackend(Registry::Global()) of "
                        "dovetail/devices/rocm/backend.h (@dovetail//devices/rocm)"));
  FakeLog log;
  ScopedBackendOverride fake(Fake({DeviceType::kRocm}, &log));
  EXPECT_EQ(*BackendFor(Device::Rocm(3)), Registry::Global().Find(DeviceType::kRocm));
}

}  // namespace
}  // namespace dovetail
