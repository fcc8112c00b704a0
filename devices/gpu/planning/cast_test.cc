#include "dovetail/devices/gpu/planning/cast.h"

#include <vector>

#include "dovetail/devices/gpu/kernels/arguments.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

// Rows of one packet in as many dimensions as a launch has: every other one repeats, so that none
// can be merged. Addresses that nothing touches.
TEST(CastPlanning, ALaunchHasNoMoreDimensionsThanItsIndexSpace) {
  std::vector<int64_t> shape(30, 2), dst_strides(30), src_strides(30);
  shape.push_back(16);
  dst_strides.push_back(1);
  src_strides.push_back(1);
  int64_t dst_step = 16, src_step = 16;
  for (int i = 29; i >= 0; --i, dst_step *= 2) {
    dst_strides[i] = dst_step;
    src_strides[i] = i % 2 == 0 ? 0 : src_step;
    if (i % 2 != 0) src_step *= 2;
  }
  MergedCast cast;
  ASSERT_TRUE(MergeCast({.data = reinterpret_cast<void*>(0x100000),
                         .dtype = kInt8,
                         .shape = shape,
                         .strides = dst_strides},
                        {.data = reinterpret_cast<void*>(0x900000),
                         .dtype = kUInt8,
                         .shape = shape,
                         .strides = src_strides},
                        &cast)
                  .ok());
  int launches = 0;
  const absl::Status s = ForEachCastLaunch(
      cast, [](DType, DType, unsigned char*) { return absl::OkStatus(); },
      [&](const CastLaunch& launch) {
        ++launches;
        const auto* arguments = static_cast<const TableCastArguments*>(launch.arguments);
        EXPECT_EQ(launch.kernel, KernelId::dovetail_cast_tables_1);
        EXPECT_EQ(arguments->copy.space.rank, 30u);
        EXPECT_EQ(arguments->copy.units, 1u << 30);
        return absl::OkStatus();
      });
  EXPECT_TRUE(s.ok()) << s;
  EXPECT_EQ(launches, 1);
}

}  // namespace
}  // namespace dovetail::gpu
