#include "dovetail/devices/cpu/copy/bands.h"

#include <cstdint>

#include "dovetail/devices/cpu/copy/stream_lines.h"
#include "gtest/gtest.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

CopyPlan Transpose(int64_t rows, int64_t columns, int64_t unit) {
  CopyPlan plan;
  plan.Add({rows, unit, columns * unit});
  plan.Add({columns, rows * unit, unit});
  plan.Finish(unit);
  return plan;
}

TEST(Bands, EachIsWholeLinesOfDstThatAKernelTakesTwiceAndIsAskedForInWholeLines) {
  for (const MemoryOrder* order : kAllMemoryOrders) {
    for (int64_t unit = 1; unit <= kMaxUnit; unit *= 2) {
      for (int64_t columns : {3000, 4096, 4097, 8192, 8256}) {
        const CopyPlan plan = Transpose(4000, columns, unit);
        for (int way = 0; way < 4; ++way) {
          const Bands bands = BandsOf(plan, *order, way % 2 == 0, way / 2 == 0, 0);
          EXPECT_GT(bands.rows, 0);
          EXPECT_EQ(bands.rows * unit % kLine, 0);
          EXPECT_LE(2 * bands.rows * unit, kMostLines * kLine);
          EXPECT_EQ(bands.ahead % kLine, 0);
          EXPECT_EQ(bands.ahead > 0, order->ahead_bytes > 0);
          EXPECT_LE(bands.ahead, bands.strip);
        }
      }
    }
  }
}

TEST(Bands, ShortRowsAreNotDivided) {
  const CopyPlan plan = Transpose(100, 5000, 4);
  EXPECT_EQ(BandsOf(plan, kFollowsFewRows, false, true, 512).rows, 100);
  EXPECT_LT(BandsOf(plan, kFollowsFewRows, false, true, 0).rows, 100);
}

TEST(Bands, RowsThatDriveEachOtherOutOfTheSecondCacheMakeNarrowerOnes) {
  const Bands collide = BandsOf(Transpose(8191, 4097, 4), kFollowsFewRows, false, true, 0);
  const Bands other = BandsOf(Transpose(8191, 4113, 4), kFollowsFewRows, false, true, 0);
  EXPECT_EQ(2 * collide.rows, other.rows);
}

}  // namespace
}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
