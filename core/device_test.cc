#include "dovetail/core/device.h"

#include <sstream>
#include <string>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

constexpr DeviceType kAllTypes[] = {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) DeviceType::id,
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};

TEST(Device, EveryTypePrintsAndParses) {
  for (DeviceType type : kAllTypes) {
    for (int32_t index : {0, 1, 17}) {
      const Device device{type, index};
      absl::StatusOr<Device> parsed = Device::Parse(device.ToString());
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ(*parsed, device) << device;
    }
  }
}

TEST(Device, PrintsAsPeopleWriteIt) {
  EXPECT_EQ(Device::Cpu().ToString(), "cpu");
  EXPECT_EQ(Device::Cuda(0).ToString(), "cuda:0");
  EXPECT_EQ((Device{DeviceType::kCudaHost, 0}).ToString(), "cuda_host");
  EXPECT_EQ((Device{DeviceType::kCpu, 2}).ToString(), "cpu:2");
  std::ostringstream os;
  os << Device::Rocm(3);
  EXPECT_EQ(os.str(), "rocm:3");
}

TEST(Device, ATypeOutsideTheListPrintsAndParses) {
  for (int32_t code : {0, 5, 42, -3, INT32_MAX, INT32_MIN}) {
    const Device device{static_cast<DeviceType>(code), 1};
    EXPECT_THAT(device.ToString(), HasSubstr("device(" + std::to_string(code) + "):1"));
    EXPECT_EQ(*Device::Parse(device.ToString()), device);
  }
}

TEST(Device, TheNumberOfAListedTypeIsThatType) {
  EXPECT_EQ(*Device::Parse("device(2):1"), Device::Cuda(1));
}

TEST(Device, TheIndexIsZeroWhenLeftOut) {
  EXPECT_EQ(*Device::Parse("cuda"), Device::Cuda(0));
  EXPECT_EQ(*Device::Parse("cpu:0"), Device::Cpu());
}

TEST(Device, TextThatIsNoDeviceIsRefusedWithAListOfTypes) {
  for (const char* text : {"",
                           ":",
                           "gpu",
                           "cuda:",
                           "cuda:x",
                           "cuda:-1",
                           "cuda:+1",
                           "cuda: 1",
                           "cuda:1:2",
                           "CUDA",
                           "cuda ",
                           " cuda",
                           "cuda:2147483648",
                           "cuda:99999999999999999999",
                           "device()",
                           "device(x)",
                           "device(1",
                           "device(2147483648)",
                           "device( 42)",
                           "device(+42)",
                           "device(042)",
                           "device(42)x"}) {
    absl::StatusOr<Device> device = Device::Parse(text);
    ASSERT_EQ(device.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(device.status().message(), HasSubstr("\"" + std::string(text) + "\""));
    EXPECT_THAT(device.status().message(), HasSubstr("cpu, cuda"));
  }
}

TEST(Device, HostAccessAddressingAndIndicesAreWhatTheListSays) {
  EXPECT_TRUE(IsHostAccessible(DeviceType::kCpu));
  EXPECT_TRUE(IsHostAccessible(DeviceType::kCudaHost));
  EXPECT_TRUE(IsHostAccessible(DeviceType::kCudaManaged));
  EXPECT_FALSE(IsHostAccessible(DeviceType::kCuda));
  EXPECT_TRUE(IsAddressable(DeviceType::kCuda));
  EXPECT_TRUE(IsAddressable(DeviceType::kOneApi));
  EXPECT_FALSE(IsAddressable(DeviceType::kMetal));
  EXPECT_FALSE(IsIndexed(DeviceType::kCpu));
  EXPECT_TRUE(IsIndexed(DeviceType::kRocm));
  const auto unlisted = static_cast<DeviceType>(99);
  EXPECT_FALSE(IsHostAccessible(unlisted));
  EXPECT_FALSE(IsAddressable(unlisted));
  EXPECT_TRUE(IsIndexed(unlisted));
}

TEST(Device, HashesAsItCompares) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Device::Cpu(), Device::Cuda(0), Device::Cuda(1), Device::Rocm(0), Device::Rocm(1)}));
}

}  // namespace
}  // namespace dovetail
