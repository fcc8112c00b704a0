#include "dovetail/devices/cpu/copy/plan.h"

#include <initializer_list>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CopyPlan Plan(std::initializer_list<Loop> loops, int64_t element_bytes) {
  CopyPlan plan;
  for (const Loop& loop : loops) plan.Add(loop);
  plan.Finish(element_bytes);
  return plan;
}

// (count, step in dst, step in src), the innermost first.
using Steps = std::tuple<int64_t, int64_t, int64_t>;
std::vector<Steps> Loops(const CopyPlan& plan) {
  std::vector<Steps> loops;
  for (int i = 0; i < plan.rank; ++i) {
    loops.emplace_back(plan.loops[i].count, plan.loops[i].dst_step, plan.loops[i].src_step);
  }
  return loops;
}

TEST(CopyPlan, OneElementHasNoLoops) {
  const CopyPlan plan = Plan({}, 4);
  EXPECT_FALSE(plan.empty);
  EXPECT_THAT(Loops(plan), IsEmpty());
  EXPECT_EQ(plan.bytes, 4);
}

TEST(CopyPlan, ALoopWithoutTurnsLeavesNothing) {
  const CopyPlan plan = Plan({{3, INT64_MAX, INT64_MIN}, {0, 4, 4}}, 4);
  EXPECT_TRUE(plan.empty);
  EXPECT_EQ(plan.kernel, CopyKernel::kNothing);
}

TEST(CopyPlan, LoopsThatStepEvenlyAreMergedInAnyOrder) {
  for (auto order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    const Loop loops[] = {{5, 48, 48}, {3, 16, 16}, {4, 4, 4}};
    CopyPlan plan;
    for (int i : order) plan.Add(loops[i]);
    plan.Finish(4);
    EXPECT_EQ(plan.kernel, CopyKernel::kRows);
    EXPECT_THAT(Loops(plan), ElementsAre(Steps{60, 4, 4}));
    EXPECT_EQ(plan.bytes, 240);
  }
}

TEST(CopyPlan, LoopsOfOneTurnAreLeftOut) {
  const CopyPlan plan = Plan({{1, INT64_MAX, INT64_MIN}, {100, 4, 4}, {1, 0, 0}}, 4);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{100, 4, 4}));
}

TEST(CopyPlan, EverythingAscendsInDst) {
  // Both sides reversed: one row, from the other end.
  const CopyPlan plan = Plan({{5, -80, -80}, {20, -4, -4}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kRows);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{100, 4, 4}));
  EXPECT_EQ(plan.dst_offset, -99 * 4);
  EXPECT_EQ(plan.src_offset, -99 * 4);
}

TEST(CopyPlan, ALoopThatStandsStillInDstHasItsLastTurnOnly) {
  const CopyPlan plan = Plan({{7, 0, 40}, {10, 4, 4}}, 4);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{10, 4, 4}));
  EXPECT_EQ(plan.src_offset, 240);
}

TEST(CopyPlan, AShortDenseRowIsOneElement) {
  // Pairs of 4 bytes: a transpose of 8 bytes.
  const CopyPlan plan = Plan({{30, 8, 800}, {100, 240, 8}, {2, 4, 4}}, 4);
  EXPECT_EQ(plan.unit(), 8);
  EXPECT_EQ(plan.kernel, CopyKernel::kTranspose);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{30, 8, 800}, Steps{100, 240, 8}));
}

TEST(CopyPlan, AnElementOfAnOddSizeIsARow) {
  const CopyPlan plan = Plan({{30, 24, 1200}, {100, 720, 12}}, 12);
  EXPECT_EQ(plan.unit(), 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kRows);
  EXPECT_EQ(std::get<0>(Loops(plan)[0]), 3);
}

TEST(CopyPlan, TransposedPixelsOfAnOddSizeAreGroups) {
  const CopyPlan plan = Plan({{30, 12, -1200}, {100, 360, 12}}, 12);
  EXPECT_EQ(plan.kernel, CopyKernel::kTransposeGroups);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{3, 4, 4}, Steps{30, 12, -1200}, Steps{100, 360, 12}));
  EXPECT_EQ(Plan({{40, 3, 400}, {100, 120, -4}, {3, 1, 1}}, 1).kernel, CopyKernel::kTransposeGroups)
      << "of four channels three";
  EXPECT_EQ(Plan({{30, 24, 2400}, {100, 720, 24}}, 24).kernel, CopyKernel::kRows) << "too wide";
  EXPECT_EQ(Plan({{40, 3, 4000}, {100, 120, 40}, {3, 1, 1}}, 1).kernel, CopyKernel::kRows) << "far";
}

TEST(CopyPlan, ATransposeHasTheLoopThatIsDenseInSrcSecond) {
  // NCHW to NHWC.
  const CopyPlan plan =
      Plan({{2, 64 * 900 * 4, 64 * 900 * 4}, {900, 64 * 4, 4}, {64, 4, 900 * 4}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kTranspose);
  EXPECT_THAT(Loops(plan),
              ElementsAre(Steps{64, 4, 3600}, Steps{900, 256, 4}, Steps{2, 230400, 230400}));
}

TEST(CopyPlan, ATransposeOfAReversedSourceRunsBackwardsInDst) {
  const CopyPlan plan = Plan({{40, 400, -4}, {100, 4, 160}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kTranspose);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{100, 4, 160}, Steps{40, -400, 4}));
  EXPECT_EQ(plan.dst_offset, 39 * 400);
  EXPECT_EQ(plan.src_offset, -39 * 4);
}

TEST(CopyPlan, PixelsAreDeinterleavedAndInterleavedByPermutes) {
  const CopyPlan apart = Plan({{3, 1000, 1}, {1000, 1, 3}}, 1);
  EXPECT_EQ(apart.kernel, CopyKernel::kPermute);
  EXPECT_TRUE(apart.HasPlanes());
  EXPECT_FALSE(apart.HasGroups());
  const CopyPlan together = Plan({{1000, 3, 1}, {3, 1, 1000}}, 1);
  EXPECT_EQ(together.kernel, CopyKernel::kPermute);
  EXPECT_TRUE(together.HasPlanes());
  EXPECT_TRUE(together.HasGroups());
  // Mirrored ones, too.
  EXPECT_TRUE(Plan({{3, 1000, 1}, {1000, 1, -3}}, 1).HasPlanes());
  const CopyPlan mirrored = Plan({{1000, 3, -1}, {3, 1, 1000}}, 1);
  EXPECT_TRUE(mirrored.HasPlanes());
  EXPECT_THAT(Loops(mirrored), ElementsAre(Steps{3, 1, 1000}, Steps{1000, 3, -1}));
  // Pixels with a gap between them in dst can't be written as vectors.
  EXPECT_EQ(Plan({{1000, 4, 1}, {3, 1, 1000}}, 1).kernel, CopyKernel::kElements);
}

TEST(CopyPlan, PlanesOfElementsOfAnySizeAreDeinterleavedAndInterleaved) {
  for (int64_t e : {1, 2, 4, 8, 16}) {
    for (int64_t planes : {2, 3, 4}) {
      const int64_t row = 1000 * e;
      EXPECT_TRUE(Plan({{planes, row, e}, {1000, e, planes * e}}, e).HasPlanes())
          << planes << " of " << e;
      EXPECT_TRUE(Plan({{1000, planes * e, e}, {planes, e, row + e}}, e).HasPlanes())
          << planes << " of " << e;
    }
  }
}

TEST(CopyPlan, WhatIsTooShortForAKernelGoesElementByElement) {
  EXPECT_EQ(Plan({{8000, 72, 288}, {9, 8, 16}}, 8).kernel, CopyKernel::kElements);
  EXPECT_EQ(Plan({{8000, 40, 80}, {10, 4, -4}}, 4).kernel, CopyKernel::kElements);
  EXPECT_EQ(Plan({{2000, 64, 64}, {4, 16, 4}, {4, 4, 16}}, 4).kernel, CopyKernel::kElements);
  EXPECT_EQ(Plan({{2000, 96, 96}, {6, 3, 1}, {3, 1, 12000}}, 1).kernel, CopyKernel::kElements);
}

TEST(CopyPlan, ALoopInWhichSrcStandsStillIsNotTheOneThatGoesAlongIt) {
  const CopyPlan plan = Plan({{11, 49152, 0}, {512, 96, 608}, {8, 12, 4}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kElements);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{8, 12, 4}, Steps{512, 96, 608}, Steps{11, 49152, 0}));
}

TEST(CopyPlan, RowsWithSmallGapsAndReversedRowsArePermuted) {
  EXPECT_EQ(Plan({{1000, 2, 4}}, 2).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, 2, -2}}, 2).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, 2, 10}}, 2).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, 2, 9}}, 2).kernel, CopyKernel::kPermute) << "between two elements";
  EXPECT_EQ(Plan({{1000, 2, -10}}, 2).kernel, CopyKernel::kPermute) << "back";
  EXPECT_EQ(Plan({{1000, 1, 10}}, 1).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, 4, 24}}, 4).kernel, CopyKernel::kElements) << "far apart";
  EXPECT_EQ(Plan({{1000, 2, -22}}, 2).kernel, CopyKernel::kElements) << "far back";
  EXPECT_EQ(Plan({{30, 2, 10}}, 2).kernel, CopyKernel::kElements) << "few";
  const CopyPlan rows = Plan({{20, 2000, 5000}, {1000, 2, -4}}, 2);
  EXPECT_EQ(rows.kernel, CopyKernel::kPermute);
  EXPECT_EQ(rows.kernel_loops(), 1);
}

TEST(CopyPlan, PixelsWhoseChannelsChangeArePermuted) {
  EXPECT_EQ(Plan({{1000, 3, 3}, {3, 1, -1}}, 1).kernel, CopyKernel::kPermute) << "BGR to RGB";
  EXPECT_EQ(Plan({{1000, 3, 4}, {3, 1, 1}}, 1).kernel, CopyKernel::kPermute) << "RGBA to RGB";
  EXPECT_EQ(Plan({{1000, 16, 12}, {3, 4, 4}}, 4).kernel, CopyKernel::kPermute) << "RGB into RGBA";
  EXPECT_EQ(Plan({{1000, 8, 1}, {8, 1, 0}}, 1).kernel, CopyKernel::kPermute) << "each 8 times";
  EXPECT_EQ(Plan({{1000, 16, 2}, {8, 2, 0}}, 2).kernel, CopyKernel::kPermute) << "a whole lane";
  EXPECT_EQ(Plan({{1000, 3, 1}, {3, 1, 0}}, 1).kernel, CopyKernel::kPermute) << "3 times";
  EXPECT_EQ(Plan({{1000, 24, 32}, {3, 8, 8}}, 8).kernel, CopyKernel::kRows) << "too wide";
  EXPECT_EQ(Plan({{1000, 3, 4096}, {3, 1, 1}}, 1).kernel, CopyKernel::kRows) << "too far";
}

TEST(CopyPlan, EveryFewColumnsAreTransposedWithTheirGaps) {
  const CopyPlan plan = Plan({{500, 2000, 8}, {500, 4, 4000}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kTransposeGaps);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{500, 4, 4000}, Steps{500, 2000, 8}));
  EXPECT_EQ(Plan({{500, 2000, 12}, {500, 4, 6000}}, 4).kernel, CopyKernel::kElements) << "far";
  EXPECT_EQ(Plan({{2, 2000, 4}, {500, 2, 4000}}, 2).kernel, CopyKernel::kElements) << "few";
}

TEST(CopyPlan, PixelsThatAreTransposedWithTheirPlanesGoPlaneByPlane) {
  const CopyPlan plan = Plan({{3, 1080 * 1920, 1}, {1920, 1080, 3}, {1080, 1, 5760}}, 1);
  EXPECT_EQ(plan.kernel, CopyKernel::kTransposeGaps);
  EXPECT_THAT(Loops(plan),
              ElementsAre(Steps{1080, 1, 5760}, Steps{1920, 1080, 3}, Steps{3, 1080 * 1920, 1}));
}

TEST(CopyPlan, AFewPlanesOfNarrowElementsAreTransposed) {
  for (int64_t planes : {5, 7, 12, 15}) {
    const CopyPlan apart = Plan({{planes, 1000, 1}, {1000, 1, planes}}, 1);
    EXPECT_EQ(apart.kernel, CopyKernel::kTranspose) << planes;
    EXPECT_TRUE(apart.HasFewPlanes()) << planes;
    EXPECT_EQ(Plan({{1000, planes, 1}, {planes, 1, 1000}}, 1).kernel, CopyKernel::kTranspose);
  }
  EXPECT_EQ(Plan({{5, 1000, 1}, {1000, 1, 100}}, 1).kernel, CopyKernel::kElements) << "far in src";
  EXPECT_EQ(Plan({{1000, 6, 1}, {5, 1, 1000}}, 1).kernel, CopyKernel::kElements) << "gaps in dst";
  EXPECT_EQ(Plan({{5, 20, 1}, {20, 1, 5}}, 1).kernel, CopyKernel::kElements) << "few";
}

TEST(CopyPlan, ARepeatedElementIsAFill) {
  const CopyPlan plan = Plan({{10, 400, 4}, {100, 4, 0}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kFill);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{100, 4, 0}, Steps{10, 400, 4}));
}

TEST(CopyPlan, DenseRowsAndRepeatedElementsAreScatteredOverSmallGaps) {
  EXPECT_EQ(Plan({{1000, 2, 1}}, 1).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{10, 9000, 3000}, {1000, 12, 4}}, 4).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, -8, 0}}, 4).kernel, CopyKernel::kPermute);
  EXPECT_EQ(Plan({{1000, 8, -4}}, 4).kernel, CopyKernel::kPermute) << "back";
  EXPECT_EQ(Plan({{1000, 24, 4}}, 4).kernel, CopyKernel::kElements) << "far apart";
  EXPECT_EQ(Plan({{15, 8, 4}}, 4).kernel, CopyKernel::kElements) << "few";
}

TEST(CopyPlan, AScatterReadsTheNearestMemoryNext) {
  const CopyPlan plan = Plan({{10, 8000, 800}, {20, 400, 4}, {10, 40, 80}}, 4);
  EXPECT_EQ(plan.kernel, CopyKernel::kElements);
  EXPECT_THAT(Loops(plan), ElementsAre(Steps{10, 40, 80}, Steps{20, 400, 4}, Steps{10, 8000, 800}));
}

TEST(CopyPlan, RowsComeInTheOrderOfWhatTheyReachOnBothSides) {
  const CopyPlan near = Plan({{2837, 48, 24}, {2, 24, 68088}, {6, 4, 4}}, 4);
  EXPECT_EQ(near.kernel, CopyKernel::kRows);
  EXPECT_THAT(Loops(near), ElementsAre(Steps{6, 4, 4}, Steps{2837, 48, 24}, Steps{2, 24, 68088}));
  const CopyPlan repeated = Plan({{105, 224, 17168}, {1073, 23520, 16}, {14, 16, 0}}, 16);
  EXPECT_EQ(repeated.kernel, CopyKernel::kFill);
  EXPECT_THAT(Loops(repeated),
              ElementsAre(Steps{14, 16, 0}, Steps{105, 224, 17168}, Steps{1073, 23520, 16}))
      << "what is written counts twice";
  const CopyPlan far = Plan({{8, 1 << 20, 1 << 12}, {16, 1 << 13, 1 << 15}, {1024, 4, 4}}, 4);
  EXPECT_THAT(Loops(far), ElementsAre(Steps{1024, 4, 4}, Steps{8, 1 << 20, 1 << 12},
                                      Steps{16, 1 << 13, 1 << 15}));
}

TEST(CopyPlan, OuterLoopsComeInTheOrderOfTheMemoryThatTheyReach) {
  // A reversal of five dimensions.
  const CopyPlan plan = Plan({{64, 1 << 20, 4},
                              {32, 1 << 15, 256},
                              {32, 1 << 10, 1 << 13},
                              {16, 64, 1 << 18},
                              {16, 4, 1 << 22}},
                             4);
  EXPECT_EQ(plan.kernel, CopyKernel::kTranspose);
  EXPECT_THAT(Loops(plan),
              ElementsAre(Steps{16, 4, 1 << 22}, Steps{64, 1 << 20, 4}, Steps{16, 64, 1 << 18},
                          Steps{32, 1 << 15, 256}, Steps{32, 1 << 10, 1 << 13}));
}

}  // namespace
}  // namespace dovetail::cpu
