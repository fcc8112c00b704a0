#include "dovetail/devices/cpu/copy/bands.h"

#include <algorithm>
#include <cstdint>

#include "dovetail/devices/cpu/copy/kernels/block.h"
#include "dovetail/devices/cpu/copy/kernels/kernels.h"
#include "dovetail/devices/cpu/copy/kernels/stream_lines.h"
#include "dovetail/devices/cpu/copy/kernels/tuning.h"
#include "dovetail/devices/cpu/copy/plan.h"
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

// Of float32, by the tuning that prefetches most.
Bands BandsOfFloats(int64_t columns, bool at_lines, bool from_memory,
                    const CopyTuning& tuning = kZen5) {
  return BandsOf(Transpose(8191, columns, 4), tuning, at_lines, from_memory, 0);
}

TEST(Bands, EachIsWholeLinesOfDstThatAKernelTakesTwiceAndIsPrefetchedInWholeLines) {
  for (const CopyTuning* tuning : kAllTunings) {
    for (int64_t unit = 1; unit <= kMaxUnit; unit *= 2) {
      for (int64_t columns : {3000, 4096, 4097, 8192, 8256}) {
        const CopyPlan plan = Transpose(4000, columns, unit);
        for (int way = 0; way < 4; ++way) {
          const Bands bands = BandsOf(plan, *tuning, way % 2 == 0, way / 2 == 0, 0);
          EXPECT_GT(bands.rows, 0);
          EXPECT_EQ(bands.rows * unit % kLine, 0);
          EXPECT_LE(2 * bands.rows * unit, MostLines(unit) * kLine);
          EXPECT_EQ(bands.prefetch_bytes % kLine, 0);
          EXPECT_EQ(bands.prefetch_bytes > 0, tuning->prefetch_bytes > 0);
          EXPECT_LE(bands.prefetch_bytes, bands.strip);
        }
      }
    }
  }
}

TEST(Bands, ShortRowsAreNotDivided) {
  const CopyPlan plan = Transpose(100, 5000, 4);
  for (bool at_lines : {false, true}) {
    EXPECT_EQ(BandsOf(plan, kZen5, at_lines, true, 512).rows, 100);
    EXPECT_LT(BandsOf(plan, kZen5, at_lines, true, 0).rows, 100);
  }
}

TEST(Bands, StripsAreLongWhereDstIsAtLinesAndSrcInMemory) {
  EXPECT_EQ(BandsOfFloats(4112, true, true).strip, kZen5.strip_bytes_at_lines);
  EXPECT_EQ(BandsOfFloats(4112, true, false).strip, kZen5.strip_bytes);
  EXPECT_EQ(BandsOfFloats(4112, false, true).strip, kZen5.strip_bytes);
}

TEST(Bands, StripsOfNarrowElementsHaveALengthOfTheirOwnWhereTheirRowsDriveEachOtherOut) {
  constexpr const CopyTuning& tuning = kZen4;
  const auto strip_of = [](int64_t columns, int64_t unit) {
    return BandsOf(Transpose(4000, columns, unit), tuning, true, true, 0).strip;
  };
  for (int64_t unit : {1, 2, 4}) {
    EXPECT_EQ(strip_of(8192, unit), tuning.strip_bytes_packed);
    EXPECT_EQ(strip_of(8192 + kLine / unit, unit), tuning.strip_bytes_at_lines);
  }
  for (int64_t unit : {8, 16}) EXPECT_EQ(strip_of(8192, unit), tuning.strip_bytes_at_lines);
}

TEST(Bands, HaveSoManyRowsAtLeastHoweverWideElementsAre) {
  constexpr const CopyTuning& tuning = kZen4;
  for (int64_t unit : {4, 8, 16}) {
    EXPECT_EQ(BandsOf(Transpose(4000, 4128, unit), tuning, true, true, 0).rows,
              std::max(tuning.least_band_bytes / unit, tuning.least_band_rows));
  }
}

TEST(Bands, RowsInACacheArePrefetchedByTheSameBytesOfEach) {
  for (int64_t columns : {4096, 4112}) {
    for (bool at_lines : {false, true}) {
      EXPECT_EQ(BandsOfFloats(columns, at_lines, false).prefetch_bytes, kZen5.prefetch_bytes);
    }
  }
}

TEST(Bands, RowsInMemoryArePrefetchedByTheBytesOfAllUnlessTheyCollide) {
  const Bands plain = BandsOfFloats(4112, true, true);
  EXPECT_EQ(plain.prefetch_bytes * plain.rows, kZen5.prefetch_bytes_of_band);
  EXPECT_EQ(BandsOfFloats(4096, true, true).prefetch_bytes, 2 * kZen5.prefetch_bytes);
  EXPECT_EQ(BandsOfFloats(4097, false, true).prefetch_bytes, kZen5.prefetch_bytes);
}

TEST(Bands, RowsThatEvictEachOtherFromTheL2CacheMakeNarrowerOnes) {
  EXPECT_EQ(2 * BandsOfFloats(4097, false, true).rows, BandsOfFloats(4113, false, true).rows);
}

TEST(Bands, RowsOffTheLinesMakeAsWideOnesWhereTheyArePrefetchedIntoTheL2Cache) {
  constexpr const CopyTuning& tuning = kZen4;
  EXPECT_EQ(BandsOfFloats(4097, false, true, tuning).rows,
            BandsOfFloats(4113, false, true, tuning).rows);
}

}  // namespace
}  // namespace dovetail::cpu
