#include "dovetail/core/internal/bytes_setting.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::HasSubstr;

constexpr char kName[] = "DOVETAIL_TEST_BYTES";
constexpr int64_t kUnlessSet = 77;

// Returns the value for the variable's text. `said` receives the text on stderr.
int64_t Read(const char* text, std::string* said) {
  text == nullptr ? unsetenv(kName) : setenv(kName, text, 1);
  testing::internal::CaptureStderr();
  const int64_t bytes = BytesSetting(kName, kUnlessSet);
  *said = testing::internal::GetCapturedStderr();
  return bytes;
}

TEST(BytesSettingTest, NumbersWithAndWithoutAUnitAreRead) {
  const struct {
    const char* text;
    int64_t bytes;
  } kCases[] = {
      {"0", 0},          {"1048576", 1 << 20},  {"12B", 12},
      {"1K", 1 << 10},   {"512k", 512 << 10},   {"1M", 1 << 20},
      {"1MiB", 1 << 20}, {" 3 mib ", 3 << 20},  {"2G", 2LL << 30},
      {"1T", 1LL << 40}, {nullptr, kUnlessSet}, {"", kUnlessSet},
  };
  for (const auto& [text, bytes] : kCases) {
    std::string said;
    EXPECT_EQ(Read(text, &said), bytes) << (text == nullptr ? "unset" : text);
    EXPECT_EQ(said, "");
  }
}

TEST(BytesSettingTest, LargeNumbersBecomeTheMaximum) {
  for (const char* text : {"2T", "99999999999999999999", "9000000000G", "18446744073709551616K"}) {
    std::string said;
    EXPECT_EQ(Read(text, &said), int64_t{1} << 40) << text;
    EXPECT_EQ(said, "");
  }
}

TEST(BytesSettingTest, AnythingElseIsIgnoredWithAWarning) {
  for (const char* text : {"-1", "1.5M", "M", "1MB", "1 X", "many", "1M1", "0x10", "1KiBs"}) {
    std::string said;
    EXPECT_EQ(Read(text, &said), kUnlessSet) << text;
    EXPECT_THAT(said, HasSubstr(std::string(kName) + "=\"" + text + "\" is ignored"));
    EXPECT_THAT(said, HasSubstr("1MiB"));
    EXPECT_THAT(said, HasSubstr("77 bytes"));
  }
}

}  // namespace
}  // namespace dovetail
