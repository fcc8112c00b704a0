// A test of the ROCm runtime through the forwarding library to a libcuda.so.1 that logs its calls.
//
//   class MyTest : public ForwardingTest {};
//   TEST_F(MyTest, …) { EXPECT_THAT(Calls(api.device_synchronize(self)), HasSubstr("cuCtx…")); }

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_FORWARDING_FIXTURE_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_FORWARDING_FIXTURE_H_

#include <cstdint>
#include <string>

#include "dovetail/devices/gpu/vendor/testing/fake_library.h"
#include "dovetail/devices/rocm/runtime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

inline void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

class ForwardingTest : public testing::Test {
 protected:
  explicit ForwardingTest(int device) : device_(device) {}

  // Selects the device.
  void SetUp() override {
    std::string reason;
    ASSERT_TRUE(api.load(api.self, &reason)) << reason;
    fake = new dovetail_fake::FakeLibrary("libcuda.so.1");
    ASSERT_TRUE(fake->is_there()) << "the test needs the stand-in, and found a real driver";
    Select(device_);
    fake->TakeLog();
  }
  void TearDown() override { delete fake; }

  void Select(int device) {
    void* previous;
    ASSERT_EQ(api.push_device(self, device, &previous), 0);
  }
  // The CUDA calls that a function made, after it succeeded.
  std::string Calls(Result result) {
    EXPECT_EQ(result, 0);
    return fake->TakeLog();
  }

  const RuntimeApi& api = RocmRuntimeApi();
  void* const self = api.self;
  dovetail_fake::FakeLibrary* fake = nullptr;

 private:
  const int device_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_FORWARDING_FIXTURE_H_
