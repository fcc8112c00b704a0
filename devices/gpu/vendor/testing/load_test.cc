// The reason that a runtime gives if it can't be used. gpu_vendor_load_tests (vendor.bzl) runs this
// test with several broken libraries; EXPECTED_REASON is a part of the reason.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {

// Defined in the vendor's testing/runtime_under_test.cc.
const RuntimeApi& RuntimeUnderTest();

namespace {

TEST(Load, SaysWhyThereIsNoDeviceEachTimeItIsAsked) {
  // The system's library that this test is about. Skipped if it is not installed.
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
