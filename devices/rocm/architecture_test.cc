#include "dovetail/devices/rocm/architecture.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

TEST(FindArchitecture, ReadsTheEntryOfTheDeviceAtThatAddress) {
  const std::string nodes = testing::TempDir() + "/nodes";
  const auto write = [&](const std::string& node, const std::string& text) {
    std::filesystem::create_directories(nodes + "/" + node);
    std::ofstream(nodes + "/" + node + "/properties") << text;
  };
  write("0", "cpu_cores_count 64\nlocation_id 0\ndomain 0\ngfx_target_version 0\n");
  write("1", "simd_count 440\nlocation_id 15104\ndomain 0\ngfx_target_version 90010\n");
  write("2", "simd_count 120\nlocation_id 15104\ndomain 1\ngfx_target_version 110002\n");
  EXPECT_EQ(FindArchitecture("0000:3b:00.0", nodes), "gfx90a");
  EXPECT_EQ(FindArchitecture("0001:3b:00.0", nodes), "gfx1102");
  EXPECT_EQ(FindArchitecture("0000:3c:00.0", nodes), "");
  EXPECT_EQ(FindArchitecture("no address", nodes), "");
  EXPECT_EQ(FindArchitecture("0000:3b:00.0", nodes + "/none"), "");
}

}  // namespace
}  // namespace dovetail::gpu
