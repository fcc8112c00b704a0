#include "dovetail/devices/cpu/copy/tile_shape.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

using cpu::CopyPlan;
using cpu::TileShape;

constexpr TileShape::Sizes kSizes = {.run = 1024, .least = 16384, .most = 131072, .piece = 128};

// A dense float32 of this shape, permuted: dimension order[i] of src is dimension i of dst.
template <int kRank>
CopyPlan Permutation(const int64_t (&shape)[kRank], const int (&order)[kRank]) {
  int64_t src[kRank], step = 4;
  for (int i = kRank - 1; i >= 0; --i) {
    src[i] = step;
    step *= shape[i];
  }
  CopyPlan plan;
  step = 4;
  for (int i = kRank - 1; i >= 0; --i) {
    plan.Add({shape[order[i]], step, src[order[i]]});
    step *= shape[order[i]];
  }
  plan.Finish(4);
  return plan;
}

TEST(TileShape, LongRowsAreCutOnBothSides) {
  TileShape shape;
  ASSERT_TRUE(shape.Find(Permutation({3000, 5000}, {1, 0}), kSizes));
  EXPECT_GE(shape.src_bytes(), 512);
  EXPECT_GE(shape.dst_bytes(), 512);
  EXPECT_LE(shape.bytes(), 3 * kSizes.most);
  EXPECT_GE(shape.cut_in_src(), 0);
  EXPECT_GE(shape.cut_in_dst(), 0);
}

TEST(TileShape, ShortRowsAreJoinedThroughSeveralLoops) {
  TileShape shape;
  ASSERT_TRUE(shape.Find(Permutation({20, 9, 300, 12, 11}, {2, 4, 3, 1, 0}), kSizes));
  EXPECT_GE(shape.src_bytes(), 11 * 12 * 4);
  EXPECT_GE(shape.dst_bytes(), 20 * 9 * 4);
}

// 14 x 7 elements lie together on both sides, and no other loop continues a row of either.
TEST(TileShape, ShortRunsGoOnThroughTheLoopsOfTheOtherSide) {
  TileShape shape;
  ASSERT_TRUE(shape.Find(Permutation({10, 8, 32, 92, 14, 7}, {2, 0, 3, 1, 5, 4}), kSizes));
  EXPECT_GE(shape.src_bytes(), 512);
  EXPECT_GE(shape.dst_bytes(), 512);
  EXPECT_EQ(shape.piece_bytes(), 7 * 4);
}

TEST(TileShape, BothLayoutsHaveAllLoopsOfTheTileOnce) {
  TileShape shape;
  ASSERT_TRUE(shape.Find(Permutation({7, 5, 11, 140, 5, 15}, {2, 1, 0, 3, 5, 4}), kSizes));
  const TileShape::Layout &packed = shape.packed(), &permuted = shape.permuted();
  ASSERT_EQ(packed.count, permuted.count);
  int64_t elements = 1;
  for (int k = 0; k < packed.count; ++k) {
    EXPECT_TRUE(permuted.Has(packed.loops[k]));
    elements *= shape.SizeOf(packed.loops[k], /*is_last=*/false);
  }
  EXPECT_EQ(elements * 4, shape.bytes());
}

TEST(TileShape, ThePlacesCoverTheCopy) {
  const CopyPlan plan = Permutation({51, 212, 24, 41}, {2, 0, 3, 1});
  for (const bool streams : {false, true}) {
    TileShape shape;
    ASSERT_TRUE(shape.Find(plan, kSizes));
    const TileShape::Places places = shape.FindPlaces(streams);
    bool is_last[TileShape::kMostLoops] = {};
    int64_t elements = 0;
    cpu::Odometer at(places.loops, places.rank);
    do {
      for (int k = 0; k < places.rank; ++k) {
        is_last[places.of[k]] = at.index(k) + 1 == places.loops[k].count;
      }
      int64_t of_tile = 1;
      for (int k = 0; k < shape.packed().count; ++k) {
        const int i = shape.packed().loops[k];
        of_tile *= shape.SizeOf(i, is_last[i]);
      }
      elements += of_tile;
    } while (at.Next());
    EXPECT_EQ(elements * 4, plan.bytes);
  }
}

TEST(TileShape, ASideWithoutDenseElementsHasNoTiles) {
  CopyPlan plan;
  plan.Add({100, 4, 8});
  plan.Add({100, 400, 800});
  plan.Add({100, 40000, 80000});
  plan.Finish(4);
  TileShape shape;
  EXPECT_FALSE(shape.Find(plan, kSizes));
}

}  // namespace
}  // namespace dovetail
