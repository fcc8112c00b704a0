#include <string>

#include "dovetail/interop/arrow/device_table.h"
#include "dovetail/interop/arrow/format_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view format) {
  absl::StatusOr<DType> dtype = DTypeFromArrow(format);
  EXPECT_EQ(dtype.status().code(), absl::StatusCode::kInvalidArgument) << format;
  return std::string(dtype.status().message());
}

TEST(ArrowFormats, EveryTypeThatHasOneComesBackFromIt) {
  std::string formats;
  for (DType dtype : kAllDTypes) {
    absl::StatusOr<const char*> format = ArrowFromDType(dtype);
    if (!format.ok()) continue;
    EXPECT_EQ(DTypeFromArrow(*format).value(), dtype);
    formats += *format;
  }
  EXPECT_EQ(formats, "csilCSILefg");
}

TEST(ArrowFormats, BooleansAreRefusedBothWaysSinceTheyAreBits) {
  EXPECT_THAT(Refusal("b"), HasSubstr("uint8"));
  EXPECT_THAT(ArrowFromDType(kBool).status().message(), HasSubstr("uint8"));
}

TEST(ArrowFormats, TypesThatArrowLacksAreRefusedByName) {
  for (DType dtype : {kBFloat16, kComplex64, kInt4, DType{TypeKind::kFloat, 32, 2}}) {
    EXPECT_THAT(ArrowFromDType(dtype).status().message(), HasSubstr(dtype.ToString()));
  }
}

TEST(ArrowFormats, WhatIsNoNumberIsRefusedWithAReason) {
  EXPECT_THAT(Refusal("tdD"), HasSubstr("dates"));
  for (const char* time : {"tts", "tsu:UTC", "tDn", "tiM"}) {
    EXPECT_THAT(Refusal(time), HasSubstr("times"));
  }
  for (const char* nested : {"+ud:0,1", "+r", "+m"}) {
    EXPECT_THAT(Refusal(nested), HasSubstr("children"));
  }
  EXPECT_THAT(Refusal("+s"), HasSubstr("several fields"));
  EXPECT_THAT(Refusal("+l"), HasSubstr("lists of any size"));
  EXPECT_THAT(Refusal("+L"), HasSubstr("lists of any size"));
  EXPECT_THAT(Refusal("+w:-1"), HasSubstr("no list of a fixed size"));
  EXPECT_THAT(Refusal("d:19,10"), HasSubstr("decimals"));
  EXPECT_THAT(Refusal("w:16"), HasSubstr("fixed size"));
  EXPECT_THAT(Refusal("vu"), HasSubstr("text"));
  EXPECT_THAT(Refusal("n"), HasSubstr("nulls"));
  EXPECT_THAT(Refusal(""), HasSubstr("unknown"));
  EXPECT_THAT(Refusal("ff"), HasSubstr("unknown"));
}

TEST(ArrowFormats, ListsOfAFixedSizeTellIt) {
  EXPECT_EQ(FixedListSize("+w:3"), 3);
  EXPECT_EQ(FixedListSize("+w:0"), 0);
  for (const char* other : {"", "5", "f", "+w", "+w:", "+w:-1", "+w:3x", "+w: 1", "+w:+1", "+w:1 ",
                            "+w:0x1", "+l", "+w:9223372036854775808"}) {
    EXPECT_EQ(FixedListSize(other), std::nullopt) << other;
  }
}

TEST(ArrowDevices, EveryTypeThatArrowListsComesBackFromItsNumber) {
  int count = 0;
  for (int32_t type = -1; type < 64; ++type) {
    absl::StatusOr<Device> device = DeviceFromArrow(type, 1);
    if (!device.ok()) continue;
    ++count;
    absl::StatusOr<ArrowDeviceId> back = ArrowFromDevice(*device);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->type, type);
    EXPECT_EQ(back->id, IsIndexed(device->type) ? 1 : -1);
  }
  EXPECT_EQ(count, 14);
}

TEST(ArrowDevices, DevicesThatOnlyDLPackListsAreRefused) {
  EXPECT_THAT(ArrowFromDevice({DeviceType::kMaia, 0}).status().message(), HasSubstr("maia"));
  EXPECT_THAT(DeviceFromArrow(17, 0).status().message(), HasSubstr("17"));
}

TEST(ArrowDevices, HostMemoryMayHaveAnyIdAndDevicesOnlyTheirs) {
  EXPECT_EQ(DeviceFromArrow(1, -1).value(), Device::Cpu());
  EXPECT_EQ(DeviceFromArrow(1, 0).value(), Device::Cpu());
  EXPECT_EQ(DeviceFromArrow(2, 3).value(), Device::Cuda(3));
  for (int64_t id : {int64_t{-1}, int64_t{1} << 31}) {
    EXPECT_FALSE(DeviceFromArrow(2, id).ok());
  }
  EXPECT_FALSE(DeviceFromArrow(1, -2).ok());
}

}  // namespace
}  // namespace dovetail
