#include "dovetail/devices/gpu/planning/progression.h"

#include <vector>

#include "dovetail/devices/gpu/kernels/testing/host_run.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

TEST(Progression, IsDividedAmongLaunches) {
  const Progression numbers{.is_integer = true, .start = 7, .step = -3};
  const int64_t count = 5000, step = 1;
  std::vector<int16_t> made(count + 1, 77);
  const LaunchLimits limits{.blocks = 2, .units = 1100};
  std::vector<uint32_t> units;
  const absl::Status s = ForEachProgressionLaunch(
      {.data = made.data(), .dtype = kInt16, .shape = {&count, 1}, .strides = {&step, 1}}, numbers,
      [&](const ProgressionLaunch& launch) {
        units.push_back(launch.arguments.units);
        EXPECT_LE(launch.blocks, limits.blocks);
        void* arguments[] = {const_cast<ProgressionArguments*>(&launch.arguments)};
        return RunKernelOnHost(KernelName(launch.kernel), launch.blocks, arguments,
                               [](const void* p) { return const_cast<void*>(p); })
                   ? absl::OkStatus()
                   : absl::InternalError("no such kernel");
      },
      limits);
  ASSERT_TRUE(s.ok()) << s;
  EXPECT_EQ(units, (std::vector<uint32_t>{1100, 1100, 1100, 1100, 600}));
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(made[i], numbers.IntegerAt(i)) << i;
  EXPECT_EQ(made[count], 77);
}

TEST(Progression, NeedsRealNumbersOfWholeBytesAtTheirAlignment) {
  alignas(8) char memory[32];
  const int64_t count = 2, step = 1;
  const auto status = [&](DType dtype, int64_t offset) {
    return ForEachProgressionLaunch(
        {.data = memory + offset, .dtype = dtype, .shape = {&count, 1}, .strides = {&step, 1}}, {},
        [](const ProgressionLaunch&) { return absl::OkStatus(); });
  };
  EXPECT_TRUE(status(kFloat32, 4).ok());
  EXPECT_TRUE(absl::IsUnimplemented(status(kFloat32, 2)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kComplex64, 0)));
  EXPECT_TRUE(absl::IsUnimplemented(status(kInt4, 0)));
}

}  // namespace
}  // namespace dovetail::gpu
