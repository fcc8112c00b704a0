// What a backend's runtime says to people where it can't be used. The environment says what library
// the test meets: run with several (the BUILD files of devices/cuda and devices/rocm), each with
// the text that the reason must hold.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {

// Of the vendor's package that the test is linked with.
const RuntimeApi& RuntimeUnderTest();

namespace {

TEST(Load, SaysWhyThereIsNoDeviceEachTimeItIsAsked) {
  // A library of the system's that the test is about, where it is installed.
  const char* needed = std::getenv("NEEDED_LIBRARY");
  if (needed != nullptr && dlopen(needed, RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    GTEST_SKIP() << dlerror();
  }
  const RuntimeApi& api = RuntimeUnderTest();
  std::string reason;
  if (api.load(api.self, &reason)) GTEST_SKIP() << "a device is present";
  EXPECT_THAT(reason, testing::HasSubstr(std::getenv("EXPECTED_REASON")));
  std::string again;
  EXPECT_FALSE(api.load(api.self, &again));
  EXPECT_EQ(again, reason);
}

}  // namespace
}  // namespace dovetail::gpu
