#include "dovetail/core/internal/divided_loop.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::internal_loop_nest {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Sizes(const DividedLoop& divided) {
  std::vector<int64_t> sizes;
  for (int64_t part = 0; part < divided.count(); ++part) sizes.push_back(divided.SizeOf(part));
  return sizes;
}

Loop LoopOf(int64_t count) { return {count, 4, -400}; }

// Each part begins where the one before ends; Parts() leads to it, but for the lead.
void CheckCoversAll(const DividedLoop& divided) {
  int64_t begin = 0;
  for (int64_t part = 0; part < divided.count(); ++part) {
    ASSERT_EQ(divided.BeginOf(part), begin);
    ASSERT_GT(divided.SizeOf(part), 0);
    const int64_t led_to = part * divided.Parts().dst_step / divided.loop().dst_step;
    ASSERT_EQ(led_to - divided.LeadOf(part), begin);
    ASSERT_EQ(divided.Part(part), (Loop{divided.SizeOf(part), 4, -400}));
    begin += divided.SizeOf(part);
  }
  ASSERT_EQ(begin, divided.loop().count);
}

TEST(DividedLoop, EveryWayCoversAllIterations) {
  for (int64_t count = 1; count <= 40; ++count) {
    const Loop loop = LoopOf(count);
    CheckCoversAll(DividedLoop(loop));
    for (int64_t n = 1; n <= 45; ++n) {
      CheckCoversAll(DivideBySize(loop, n));
      CheckCoversAll(DivideEvenly(loop, n));
      for (int64_t grain = 1; grain <= 12; ++grain) CheckCoversAll(Divide(loop, n, grain));
      for (int64_t lead = 0; lead < n; ++lead) CheckCoversAll(DivideAligned(loop, n, lead));
    }
  }
}

TEST(DividedLoop, PartsAreNearlyEqual) {
  EXPECT_THAT(Sizes(Divide(LoopOf(10), 3)), ElementsAre(4, 4, 2));
  EXPECT_THAT(Sizes(Divide(LoopOf(10), 100)), testing::SizeIs(10));
  EXPECT_THAT(Sizes(DivideEvenly(LoopOf(10), 4)), ElementsAre(4, 4, 2));
  EXPECT_THAT(Sizes(DivideEvenly(LoopOf(10), 9)), ElementsAre(5, 5));
  for (int64_t count = 1; count <= 60; ++count) {
    for (int64_t most = 1; most <= 60; ++most) {
      const DividedLoop divided = Divide(LoopOf(count), most);
      ASSERT_LE(divided.count(), most);
      const DividedLoop even = DivideEvenly(LoopOf(count), most);
      ASSERT_LE(even.size(), most);
      ASSERT_EQ(even.count(), CeilDivide(count, most)) << "as few as possible";
    }
  }
}

TEST(DividedLoop, PartsAreWholeGrainsExceptForTheLast) {
  EXPECT_THAT(Sizes(Divide(LoopOf(100), 3, 16)), ElementsAre(48, 48, 4));
  EXPECT_THAT(Sizes(Divide(LoopOf(100), 8, 64)), ElementsAre(64, 36));
  EXPECT_THAT(Sizes(Divide(LoopOf(100), 8, 1000)), ElementsAre(100));
}

TEST(DividedLoop, OfAGivenSizeTheLastPartHasTheRest) {
  EXPECT_THAT(Sizes(DivideBySize(LoopOf(10), 4)), ElementsAre(4, 4, 2));
  EXPECT_THAT(Sizes(DivideBySize(LoopOf(9), 8)), ElementsAre(8, 1));
  EXPECT_EQ(DivideBySize(LoopOf(10), 4).Parts(), (Loop{3, 16, -1600}));
}

TEST(DividedLoop, AlignedPartsAreNoShorterExceptForTheFirst) {
  EXPECT_THAT(Sizes(DivideAligned(LoopOf(11), 4)), ElementsAre(4, 7));
  EXPECT_THAT(Sizes(DivideAligned(LoopOf(11), 4, 3)), ElementsAre(1, 4, 6));
  EXPECT_THAT(Sizes(DivideAligned(LoopOf(3), 4, 2)), ElementsAre(3));
}

}  // namespace
}  // namespace dovetail::internal_loop_nest
