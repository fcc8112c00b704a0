#include "dovetail/devices/gpu/vendor/dynamic_library.h"

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::HasSubstr;

TEST(OpenLibrary, FillsTheSlotsFromTheFirstNameThatThereIs) {
  void* cosine = nullptr;
  void* nothing = &cosine;
  const SymbolSlot slots[] = {{"cos", &cosine, Need::kRequired},
                              {"no_such_function", &nothing, Need::kOptional}};
  std::string reason;
  ASSERT_TRUE(OpenLibrary({"libno_such_library.so.9", "libm.so.6"}, slots, &reason)) << reason;
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(cosine)(0), 1.0);
  EXPECT_EQ(nothing, nullptr);
}

TEST(OpenLibrary, AMissingFileIsNamed) {
  void* address = &address;
  const SymbolSlot slots[] = {{"f", &address, Need::kRequired}};
  std::string reason;
  EXPECT_FALSE(OpenLibrary({"libno_such_library.so.9"}, slots, &reason));
  EXPECT_THAT(reason, HasSubstr("libno_such_library.so.9"));
  EXPECT_EQ(address, nullptr);
}

TEST(OpenLibrary, EveryMissingFunctionIsNamedAndNoSlotIsFilled) {
  void* cosine = nullptr;
  void* a = nullptr;
  void* b = nullptr;
  const SymbolSlot slots[] = {{"cos", &cosine, Need::kRequired},
                              {"missing_a", &a, Need::kRequired},
                              {"missing_b", &b, Need::kRequired}};
  std::string reason;
  EXPECT_FALSE(OpenLibrary({"libm.so.6"}, slots, &reason));
  EXPECT_THAT(reason, HasSubstr("libm.so.6 lacks missing_a, missing_b"));
  EXPECT_EQ(cosine, nullptr);
}

}  // namespace
}  // namespace dovetail::gpu
