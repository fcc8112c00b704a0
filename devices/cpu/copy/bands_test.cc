#include "dovetail/devices/cpu/copy/bands.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/block.h"
#include "dovetail/devices/cpu/copy/kernels.h"
#include "dovetail/devices/cpu/copy/memory_order.h"
#include "dovetail/devices/cpu/copy/plan.h"
#include "dovetail/devices/cpu/copy/stream_lines.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

CopyPlan Transpose(int64_t rows, int64_t columns, int64_t unit) {
  CopyPlan plan;
  plan.Add({rows, unit, columns * unit});
  plan.Add({columns, rows * unit, unit});
  plan.Finish(unit);
  return plan;
}

// Of float32, in the order of a processor that is asked for most.
Bands BandsOfFloats(int64_t columns, bool at_lines, bool from_memory,
                    const MemoryOrder& order = kFollowsFewRows) {
  return BandsOf(Transpose(8191, columns, 4), order, at_lines, from_memory, 0);
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
          EXPECT_LE(2 * bands.rows * unit, MostLines(unit) * kLine);
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
  for (bool at_lines : {false, true}) {
    EXPECT_EQ(BandsOf(plan, kFollowsFewRows, at_lines, true, 512).rows, 100);
    EXPECT_LT(BandsOf(plan, kFollowsFewRows, at_lines, true, 0).rows, 100);
  }
}

TEST(Bands, StripsAreLongWhereDstIsAtLinesAndSrcInMemory) {
  EXPECT_EQ(BandsOfFloats(4112, true, true).strip, kFollowsFewRows.strip_bytes_at_lines);
  EXPECT_EQ(BandsOfFloats(4112, true, false).strip, kFollowsFewRows.strip_bytes);
  EXPECT_EQ(BandsOfFloats(4112, false, true).strip, kFollowsFewRows.strip_bytes);
}

TEST(Bands, StripsOfNarrowElementsHaveALengthOfTheirOwnWhereTheirRowsDriveEachOtherOut) {
  const MemoryOrder& order = kFollowsFewAsksSecond;
  const auto strip_of = [&order](int64_t columns, int64_t unit) {
    return BandsOf(Transpose(4000, columns, unit), order, true, true, 0).strip;
  };
  for (int64_t unit : {1, 2, 4}) {
    EXPECT_EQ(strip_of(8192, unit), order.strip_bytes_gathered);
    EXPECT_EQ(strip_of(8192 + kLine / unit, unit), order.strip_bytes_at_lines);
  }
  for (int64_t unit : {8, 16}) EXPECT_EQ(strip_of(8192, unit), order.strip_bytes_at_lines);
}

TEST(Bands, HaveSoManyRowsAtLeastHoweverWideElementsAre) {
  const MemoryOrder& order = kFollowsFewAsksSecond;
  for (int64_t unit : {4, 8, 16}) {
    EXPECT_EQ(BandsOf(Transpose(4000, 4128, unit), order, true, true, 0).rows,
              std::max(order.least_band_bytes / unit, order.least_band_rows));
  }
}

TEST(Bands, RowsInACacheAreAskedForByTheSameBytesOfEach) {
  for (int64_t columns : {4096, 4112}) {
    for (bool at_lines : {false, true}) {
      EXPECT_EQ(BandsOfFloats(columns, at_lines, false).ahead, kFollowsFewRows.ahead_bytes);
    }
  }
}

TEST(Bands, RowsInMemoryAreAskedForByTheBytesOfAllUnlessTheyDriveEachOtherOut) {
  const Bands plain = BandsOfFloats(4112, true, true);
  EXPECT_EQ(plain.ahead * plain.rows, kFollowsFewRows.ahead_bytes_of_band);
  EXPECT_EQ(BandsOfFloats(4096, true, true).ahead, 2 * kFollowsFewRows.ahead_bytes);
  EXPECT_EQ(BandsOfFloats(4097, false, true).ahead, kFollowsFewRows.ahead_bytes);
}

TEST(Bands, RowsThatDriveEachOtherOutOfTheSecondCacheMakeNarrowerOnes) {
  EXPECT_EQ(2 * BandsOfFloats(4097, false, true).rows, BandsOfFloats(4113, false, true).rows);
}

TEST(Bands, RowsOffTheLinesMakeAsWideOnesWhereTheyAreAskedForIntoTheSecondCache) {
  const MemoryOrder& order = kFollowsFewAsksSecond;
  EXPECT_EQ(BandsOfFloats(4097, false, true, order).rows,
            BandsOfFloats(4113, false, true, order).rows);
}

}  // namespace
}  // namespace dovetail::cpu
