#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {
namespace {

constexpr int64_t kRegistries = 4096;
constexpr int64_t kRunsOfEach = 6;
constexpr DeviceType kTypes[] = {DeviceType::kMetal, DeviceType::kVulkan, DeviceType::kOpenCL};

// A backend of one type, with its log.
struct Log {
  FakeLog log;
};
class Backend final : private Log, public FakeBackend {
 public:
  explicit Backend(DeviceType type) : FakeBackend({type}, &log) {}
};

// Threads register backends for the same types with a new registry: one of them succeeds.
class Registries final : public Steps {
 public:
  void Run(Random& random) override {
    const int64_t run = runs_.fetch_add(1, std::memory_order_relaxed);
    const int64_t which = run / kRunsOfEach % kRegistries;
    Registry& registry = registries_[which];
    switch (random.Below(6)) {
      default:
        return Register(registry, registered_[which], random);
      case 1: {
        const std::vector<DeviceBackend*> backends = registry.Backends();
        for (DeviceBackend* backend : backends) EXPECT_EQ(backend->name(), "fake");
        return;
      }
      case 2:
        EXPECT_NE(FindServing(DeviceType::kCpu), nullptr);
        EXPECT_TRUE(BackendFor(Device::Cpu()).ok());
        return;
      case 0: {
        const DeviceType type = kTypes[random.Below(std::size(kTypes))];
        DeviceBackend* backend = registry.Find(type);
        if (backend != nullptr) {
          EXPECT_EQ(backend->device_types()[0], type);
        }
        return;
      }
    }
  }

  void Check() override {
    for (int64_t which = 0; which < kRegistries; ++which) {
      EXPECT_EQ(registries_[which].Backends().size(), registered_[which].load());
      size_t served = 0;
      for (DeviceType type : kTypes) served += registries_[which].Find(type) != nullptr;
      EXPECT_EQ(served, registered_[which].load());
    }
  }

 private:
  void Register(Registry& registry, std::atomic<size_t>& registered, Random& random) {
    const DeviceType type = kTypes[random.Below(std::size(kTypes))];
    const absl::Status s = registry.Register(std::make_unique<Backend>(type));
    if (s.ok()) {
      ++registered;
    } else {
      EXPECT_EQ(s.code(), absl::StatusCode::kAlreadyExists);
    }
    EXPECT_NE(registry.Find(type), nullptr);
  }

  std::atomic<int64_t> runs_ = 0;
  std::array<Registry, kRegistries> registries_;
  std::array<std::atomic<size_t>, kRegistries> registered_ = {};
};

}  // namespace

std::unique_ptr<Steps> RegistrySteps() { return std::make_unique<Registries>(); }

}  // namespace dovetail::stress
