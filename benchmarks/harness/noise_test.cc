#include "benchmarks/harness/noise.h"

#include "gtest/gtest.h"

namespace dovetail_benchmarks {
namespace {

TEST(NoiseTest, NamesOnlyBenchmarksWhoseMiddleHalfSpreads) {
  Noise noise;
  for (double time : {100, 101, 99, 100, 100, 500}) noise.Add("steady/dovetail", time);
  for (double time : {100, 130, 160, 90, 200, 120}) noise.Add("unsteady/dovetail", time);
  const std::string warning = noise.Warning();
  EXPECT_NE(warning.find("  unsteady/dovetail: "), std::string::npos) << warning;
  EXPECT_EQ(warning.find("  steady/dovetail"), std::string::npos) << warning;
}

TEST(NoiseTest, FewRepetitionsAreNotJudged) {
  Noise noise;
  for (double time : {1, 100, 1000}) noise.Add("few/dovetail", time);
  EXPECT_EQ(noise.Warning(), "");
}

}  // namespace
}  // namespace dovetail_benchmarks
