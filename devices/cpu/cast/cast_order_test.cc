#include "dovetail/devices/cpu/cast/cast_order.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Dims = std::vector<int64_t>;
using testing::ElementsAre;

// The order of a cast from float32; strides count elements.
CastOrder Choose(DType to, const Dims& shape, const Dims& dst_strides, const Dims& src_strides) {
  const CastLoops loops({.dtype = to, .shape = shape, .strides = dst_strides},
                        {.dtype = kFloat32, .shape = shape, .strides = src_strides});
  return ChooseCastOrder(loops, *CastPath::Find(kFloat32, to), kFloat32, to);
}

CastWay WayOf(DType to, const Dims& shape, const Dims& dst_strides, const Dims& src_strides) {
  return Choose(to, shape, dst_strides, src_strides).way;
}

TEST(CastOrder, DenseRowsAreCastByThemselves) {
  const CastOrder order = Choose(kInt32, {1000, 500}, {600, 1}, {501, 1});
  EXPECT_EQ(order.way, CastWay::kRows);
  EXPECT_THAT(order.box, ElementsAre(1000, 500));
  EXPECT_EQ(WayOf(kInt32, {7}, {1}, {1}), CastWay::kRows) << "all of it";
}

TEST(CastOrder, ShortRowsAreBroughtTogetherUnlessTheyAreWideOrLieBetweenGaps) {
  EXPECT_EQ(WayOf(kInt32, {1000, 30}, {30, 1}, {31, 1}), CastWay::kTiles);
  EXPECT_EQ(WayOf(kInt64, {1000, 30}, {30, 1}, {31, 1}), CastWay::kRows);
  EXPECT_EQ(WayOf(kInt32, {1000, 30}, {32, 1}, {31, 1}), CastWay::kRows);
}

TEST(CastOrder, FewElementsAreCastWhereTheyLie) {
  const CastOrder order = Choose(kInt32, {8, 8}, {8, 1}, {1, 8});
  EXPECT_EQ(order.way, CastWay::kElements);
  EXPECT_NE(order.step, nullptr);
  EXPECT_EQ(WayOf(kInt32, {80, 80}, {80, 1}, {1, 80}), CastWay::kTiles);
}

TEST(CastOrder, WhatHasNoStepForSingleElementsGoesByTiles) {
  EXPECT_EQ(WayOf(kFloat16, {8, 8}, {8, 1}, {1, 8}), CastWay::kTiles);
  EXPECT_EQ(WayOf(kFloat16, {1000}, {2}, {2}), CastWay::kTiles);
}

TEST(CastOrder, LinesWithGapsOnBothSidesAreCastWhereTheyLie) {
  EXPECT_EQ(WayOf(kInt32, {1000}, {2}, {2}), CastWay::kElements);
  EXPECT_EQ(WayOf(kInt32, {1000}, {1}, {2}), CastWay::kTiles) << "gathered by vectors";
  EXPECT_EQ(WayOf(kInt32, {1000}, {1}, {6}), CastWay::kElements) << "too far to be gathered";
  EXPECT_EQ(WayOf(kInt32, {1000}, {1}, {-1}), CastWay::kTiles) << "turned round by vectors";
  EXPECT_EQ(WayOf(kInt32, {1000}, {1}, {-2}), CastWay::kElements) << "every other one, backwards";
  EXPECT_EQ(WayOf(kInt32, {1000}, {2}, {1}), CastWay::kTiles) << "spread by vectors";
  EXPECT_EQ(WayOf(kInt32, {1000}, {9}, {1}), CastWay::kElements) << "too far to be spread";
  EXPECT_EQ(WayOf(kInt64, {1000}, {1}, {2}), CastWay::kElements) << "too wide to be gathered";
}

TEST(CastOrder, PlanesTakeElementsInPiecesThatStayInTheCache) {
  const int64_t pixels = 1 << 20;
  const CastOrder order = Choose(kFloat64, {5, pixels}, {pixels, 1}, {1, 5});
  EXPECT_EQ(order.way, CastWay::kElements);
  EXPECT_EQ(order.outer, 0);
  EXPECT_THAT(order.box, ElementsAre(5, (2 << 20) / 20));
  EXPECT_EQ(WayOf(kUInt8, {5, 10000}, {10000, 1}, {1, 5}), CastWay::kTiles) << "in the cache";
}

// Larger than any cache; the nearest elements of src are 12 bytes apart.
TEST(CastOrder, WhatGoesAcrossGapsInMemoryIsCastWhereItLies) {
  const int64_t large = int64_t{1} << 22;
  const CastOrder near = Choose(kInt32, {large, 70}, {70, 1}, {3, 3 * large + 101});
  EXPECT_EQ(near.way, CastWay::kElements);
  EXPECT_THAT(near.box, ElementsAre(large, 70))
      << "in the order of dst: few lines of src at a time";
  const CastOrder far = Choose(kInt32, {large, 5, 700}, {3500, 700, 1}, {3, 99, 15 * large + 99});
  EXPECT_EQ(far.way, CastWay::kElements);
  EXPECT_THAT(far.box, ElementsAre(large, 1, 256)) << "as many lines as stay in the cache";
  EXPECT_EQ(WayOf(kInt32, {large, 70}, {70, 1}, {1, large}), CastWay::kTiles) << "by vectors";
  EXPECT_EQ(WayOf(kInt32, {large, 70}, {70, 1}, {3, 4 * large}), CastWay::kTiles) << "collides";
}

TEST(CastOrder, WhatSrcRepeatsGoesByTilesWhichCastItOnce) {
  EXPECT_EQ(WayOf(kInt64, {1000, 100}, {200, 2}, {0, 1}), CastWay::kTiles);
}

TEST(CastOrder, ThreadsTakeTilesOrPiecesOfRows) {
  EXPECT_THAT(Choose(kInt32, {1000, 500}, {600, 1}, {501, 1}).Grain(), ElementsAre(1, 4096));
  const CastOrder tiles = Choose(kInt32, {800, 800}, {800, 1}, {1, 800});
  EXPECT_THAT(tiles.box, ElementsAre(64, 64));
  EXPECT_EQ(tiles.Grain(), tiles.box);
}

}  // namespace
}  // namespace dovetail
