#include "dovetail/devices/gpu/runtime/runtime.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

// A driver whose library may be missing.
struct Driver {
  std::string missing;  // why there is none; "": it is there
  Result counting = 0;  // of device_count
  int counted = 0;      // calls of device_count

  RuntimeApi Api() {
    RuntimeApi api;
    api.self = this;
    api.vendor = &kCudaTraits;
    api.load = [](void* self, std::string* reason) {
      *reason = static_cast<Driver*>(self)->missing;
      return reason->empty();
    };
    api.device_count = [](void* self, int* count) {
      auto* driver = static_cast<Driver*>(self);
      ++driver->counted;
      *count = 2;
      return driver->counting;
    };
    api.device_info = [](void*, int, DeviceInfo* info) {
      *info = {};
      return Result{0};
    };
    api.classify = [](void*, Result result) {
      return result == 0 ? ResultClass::kOk : ResultClass::kOther;
    };
    api.describe = [](void*, Result) { return "an error"; };
    return api;
  }
};

TEST(RuntimeTest, ADriverThatIsLoadedLaterIsFound) {
  Driver driver = {"no driver"};
  Runtime runtime(driver.Api());
  EXPECT_EQ(runtime.DeviceCount().status(), absl::UnavailableError("no driver"));
  EXPECT_EQ(runtime.Ready(), absl::UnavailableError("no driver"));
  driver.missing = "a driver that is too old";
  EXPECT_EQ(runtime.Ready(), absl::UnavailableError("a driver that is too old"));
  EXPECT_EQ(driver.counted, 0);
  driver.missing = "";
  EXPECT_EQ(runtime.DeviceCount().value_or(0), 2);
  EXPECT_TRUE(runtime.CheckDevice(Device::Cuda(1)).ok());
  EXPECT_FALSE(runtime.IsInUse(1));
  EXPECT_EQ(driver.counted, 1);
}

TEST(RuntimeTest, ADriverThatWasLoadedIsNotAskedAgain) {
  Driver driver;
  Runtime runtime(driver.Api());
  EXPECT_TRUE(runtime.Ready().ok());
  driver.missing = "gone";
  EXPECT_TRUE(runtime.Ready().ok());
  Driver broken = {.counting = 1};
  Runtime without(broken.Api());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(without.Ready().code(), absl::StatusCode::kInternal);
  }
  EXPECT_EQ(broken.counted, 1);
}

TEST(RuntimeTest, OneOfManyThreadsDescribesTheDevices) {
  Driver driver;
  Runtime runtime(driver.Api());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(runtime.DeviceCount().value_or(0), 2); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(driver.counted, 1);
}

// Whether the runtime can be used in a child of this process.
bool IsReadyInAChild(Runtime& runtime) {
  const pid_t child = fork();
  if (child == 0) _exit(runtime.Ready().ok() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status == 0;
}

TEST(RuntimeTest, AChildCanLoadTheDriverThatItsParentLacked) {
  Driver driver = {"no driver"};
  Runtime runtime(driver.Api());
  EXPECT_FALSE(runtime.Ready().ok());
  driver.missing = "";
  EXPECT_TRUE(IsReadyInAChild(runtime));
  EXPECT_TRUE(runtime.Ready().ok());
  EXPECT_FALSE(IsReadyInAChild(runtime));
}

}  // namespace
}  // namespace dovetail::gpu
