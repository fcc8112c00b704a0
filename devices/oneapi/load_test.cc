// What is said where SYCL's library can't be used. Two environment variables:
// DOVETAIL_ONEAPI_LIBRARY names the library, and REASON is a part of the message that is expected.

#include <cstdlib>
#include <string>

#include "dovetail/core/registry.h"
#include "dovetail/devices/oneapi/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

TEST(Load, AnAbsentRuntimeIsNoDevicesAndAReason) {
  ASSERT_TRUE(RegisterOneApiBackend(Registry::Global()).ok());
  DeviceBackend* backend = Registry::Global().Find(DeviceType::kOneApi);
  ASSERT_NE(backend, nullptr);
  for (int again = 0; again < 2; ++again) {
    const absl::Status s = backend->DeviceCount().status();
    EXPECT_EQ(s.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(s.message()), HasSubstr("SYCL runtime"));
    EXPECT_THAT(std::string(s.message()), HasSubstr(std::getenv("REASON")));
  }
  EXPECT_FALSE(backend->CreateStream({DeviceType::kOneApi, 0}).ok());
  EXPECT_FALSE(backend->GetAllocator({DeviceType::kOneApi, 0}, MemoryKind::kDevice).ok());
  EXPECT_EQ(FindServing(DeviceType::kOneApi), nullptr);
}

}  // namespace
}  // namespace dovetail
