// static_asserts beside the tables prove that they are bijections. These tests check the casts for
// codes that no table lists.

#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

// The proofs do notice a mistake in a table.
struct Pair {
  int dlpack;
  int core;
};
constexpr Pair kTwiceOnTheLeft[] = {{1, 1}, {1, 2}};
constexpr Pair kTwiceOnTheRight[] = {{1, 1}, {2, 1}};
constexpr Pair kOneToOne[] = {{1, 2}, {2, 1}};
static_assert(!internal_dlpack::IsBijection(kTwiceOnTheLeft));
static_assert(!internal_dlpack::IsBijection(kTwiceOnTheRight));
static_assert(internal_dlpack::IsBijection(kOneToOne));
static_assert(!internal_dlpack::NumbersAgree(kOneToOne));

// Rules 16, 19.
TEST(Tables, EveryListedTypeAndDeviceSurvives) {
  for (DType t : kAllDTypes) {
    t.lanes = 3;
    EXPECT_EQ(ToDType(ToDLDataType(t)), t);
  }
  for (DeviceType type : kAllDeviceTypes) {
    const Device d{type, 0};
    EXPECT_EQ(ToDevice(ToDLDevice(d)), d);
  }
}

// Rule 19.
TEST(Tables, CodesOutsideTheHeaderSurvive) {
  const DLDevice device = ToDLDevice(ToDevice({static_cast<DLDeviceType>(99), 4}));
  EXPECT_EQ(static_cast<int>(device.device_type), 99);
  EXPECT_EQ(device.device_id, 4);
  const DLDataType type = ToDLDataType(ToDType({200, 7, 9}));
  EXPECT_EQ(type.code, 200);
  EXPECT_EQ(type.bits, 7);
  EXPECT_EQ(type.lanes, 9);
  EXPECT_FALSE(ToDType({200, 7, 9}).is_known());
}

}  // namespace
}  // namespace dovetail
