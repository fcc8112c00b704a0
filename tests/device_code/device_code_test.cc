#include <cstdint>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/device_code/compiled.inc"
#include "tests/device_code/not_compiled.inc"

namespace {

TEST(DeviceCode, HasTheBytesThatTheCompilerWrote) {
  const std::string_view code(reinterpret_cast<const char*>(kCompiled), kCompiledBytes);
  EXPECT_EQ(code,
            "hello -O3 --arch=a1 --arch=b2 --last\n"
            "DOVETAIL_CORE_CONFIG_H_\n"
            "the source\n");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(kCompiled) % 16, 0u);
  EXPECT_STREQ(kCompiledArchitectures, "a1 b2");
}

TEST(DeviceCode, IsEmptyWithoutACompiler) {
  EXPECT_EQ(kNotCompiledBytes, 0u);
  EXPECT_STREQ(kNotCompiledArchitectures, "");
}

}  // namespace
