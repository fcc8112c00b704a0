// Which copy of a vendor's library a runtime uses. gpu_vendor_copies_tests (vendor.bzl) runs this
// test in a process for each case. Environment variables name files:
//
//   LOADED_BEFORE   another package loads it before the runtime looks for the library
//   LOADED_LATER    another package loads it after the runtime found none that can be used
//   EXPECTED        gets the runtime's calls
//   UNUSED          must not be loaded

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/testing/fake_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {

// Defined in the vendor's testing/runtime_under_test.cc.
const RuntimeApi& RuntimeUnderTest();

namespace {

using dovetail_fake::FakeLibrary;

// As the import of another package does.
void LoadForAnother(const char* file) {
  ASSERT_NE(dlopen(file, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
}

TEST(Copies, OneCopyIsLoadedAndGetsTheCalls) {
  const RuntimeApi& api = RuntimeUnderTest();
  std::string reason;
  if (const char* before = std::getenv("LOADED_BEFORE")) LoadForAnother(before);
  if (const char* later = std::getenv("LOADED_LATER")) {
    if (api.load(api.self, &reason)) GTEST_SKIP() << "a device is present";
    LoadForAnother(later);
  }
  ASSERT_TRUE(api.load(api.self, &reason)) << reason;

  FakeLibrary expected(std::getenv("EXPECTED"));
  ASSERT_TRUE(expected.is_there());
  void* previous;
  ASSERT_EQ(api.push_device(api.self, 0, &previous), 0);
  expected.TakeLog();
  EXPECT_EQ(api.device_synchronize(api.self), 0);
  EXPECT_THAT(expected.TakeLog(), testing::HasSubstr("Synchronize"));
  std::vector<std::string> files;
  api.library_files(api.self, &files);
  ASSERT_FALSE(files.empty());
  EXPECT_THAT(files[0], testing::EndsWith(std::getenv("EXPECTED")));

  const char* unused = std::getenv("UNUSED");
  EXPECT_FALSE(unused != nullptr && FakeLibrary(unused).is_there());
}

}  // namespace
}  // namespace dovetail::gpu
