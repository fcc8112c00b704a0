#include "dovetail/devices/cpu/cast/cast_loops.h"

#include <random>
#include <set>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/core/testing/strided_pair.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Dims = std::vector<int64_t>;

CastLoops LoopsOf(const Dims& shape, const Dims& dst_strides, const Dims& src_strides) {
  return CastLoops({.dtype = kInt8, .shape = shape, .strides = dst_strides},
                   {.dtype = kFloat32, .shape = shape, .strides = src_strides});
}

// The dst offsets of all elements of the parts. Checks that none occurs twice.
std::set<int64_t> Reached(const DividedCast& parts) {
  std::set<int64_t> reached;
  for (int64_t part = 0; part < parts.count(); ++part) {
    const CastLoops loops = parts.Get(part);
    const CastDims one(loops.rank(), 1);
    loops.ForEachTile(one, [&](int64_t dst, int64_t, absl::Span<const int64_t>) {
      EXPECT_TRUE(reached.insert(dst).second) << dst;
    });
  }
  return reached;
}

TEST(CastLoops, TilesCoverAllElementsOfAnyLayout) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const StridedPair pair = RandomStridedPair(&random);
    const CastLoops loops = LoopsOf(pair.shape, pair.dst_strides, pair.src_strides);
    CastDims box(loops.rank());
    for (int i = 0; i < loops.rank(); ++i) box[i] = 1 + static_cast<int64_t>(random() % 6);
    OffsetPairs offsets;
    loops.ForEachTile(box, [&](int64_t dst, int64_t src, absl::Span<const int64_t> extents) {
      const StridedPair tile{{extents.begin(), extents.end()},
                             {loops.dst_strides.begin(), loops.dst_strides.end()},
                             {loops.src_strides.begin(), loops.src_strides.end()}};
      for (const auto& [to, from] : OffsetsOf(tile)) offsets.emplace_back(dst + to, src + from);
    });
    ASSERT_EQ(Sorted(offsets), Sorted(OffsetsOf(pair)));
  }
}

TEST(DividedCast, TogetherTheyReachEachElementOnce) {
  const CastLoops loops = LoopsOf({7, 30}, {40, 1}, {1, 7});
  for (int64_t most : {1, 2, 3, 5, 100}) {
    for (const Dims& grain : {Dims{1, 30}, Dims{1, 8}, Dims{7, 4}}) {
      const DividedCast parts(loops, grain, most);
      EXPECT_LE(parts.count(), most);
      EXPECT_EQ(Reached(parts).size(), 7u * 30u);
    }
  }
}

TEST(DividedCast, OneLongRowIsDividedAtTheGrain) {
  const CastLoops loops = LoopsOf({100000}, {1}, {1});
  const Dims grain = {4096};
  const DividedCast parts(loops, grain, 8);
  EXPECT_EQ(parts.count(), 7);  // of 4 grains each
  EXPECT_EQ(parts.Get(1).dst_start, 4 * 4096);
  EXPECT_EQ(parts.Get(6).counts[0], 100000 - 24 * 4096);
}

TEST(DividedCast, ALoopThatWritesTheSameElementsStaysWhole) {
  const CastLoops loops = LoopsOf({64}, {0}, {1});
  const Dims grain = {1};
  EXPECT_EQ(DividedCast(loops, grain, 8).count(), 1);
}

}  // namespace
}  // namespace dovetail
