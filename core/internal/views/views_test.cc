#include "dovetail/core/internal/views/views.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Items = std::vector<IndexItem>;

IndexItem At(int64_t i) { return IndexItem::At(i); }
IndexItem Range(SliceSpec s = {}) { return IndexItem::Range(s); }

LayoutView Indexed(const Layout& layout, const Items& items) {
  LayoutView view;
  absl::Status status = Index(layout, items, &view);
  EXPECT_TRUE(status.ok()) << status;
  return view;
}

absl::Status IndexStatus(const Layout& layout, const Items& items) {
  LayoutView view;
  return Index(layout, items, &view);
}

const Layout kMatrix = *Layout::Contiguous({3, 4});

TEST(Views, AnIndexTakesOneAndDropsTheDimension) {
  const LayoutView v = Indexed(kMatrix, {At(1)});
  EXPECT_THAT(v.layout.shape(), ElementsAre(4));
  EXPECT_EQ(v.offset, 4);
  EXPECT_EQ(Indexed(kMatrix, {At(-1), At(-4)}).offset, 8);
  EXPECT_EQ(Indexed(kMatrix, {At(-1), At(-4)}).layout.rank(), 0);
}

TEST(Views, ANegativeStepRunsBackwards) {
  const LayoutView v = Indexed(kMatrix, {Range({.step = -1}), Range({.step = -2})});
  EXPECT_THAT(v.layout.shape(), ElementsAre(3, 2));
  EXPECT_THAT(v.layout.strides(), ElementsAre(-4, -2));
  EXPECT_EQ(v.offset, 11);
}

TEST(Views, AnEllipsisStandsForAllThatIsLeft) {
  const Layout cube = *Layout::Contiguous({2, 3, 4});
  const LayoutView v = Indexed(cube, {IndexItem::Ellipsis(), At(1)});
  EXPECT_THAT(v.layout.shape(), ElementsAre(2, 3));
  EXPECT_EQ(v.offset, 1);
  EXPECT_EQ(Indexed(cube, {At(0), At(0), IndexItem::Ellipsis(), At(0)}).layout.rank(), 0);
  EXPECT_EQ(Indexed(cube, {IndexItem::Ellipsis()}).layout, cube);
  EXPECT_EQ(Indexed(cube, {}).layout, cube);
}

TEST(Views, ANewAxisAddsADimensionOfOne) {
  const LayoutView v = Indexed(kMatrix, {IndexItem::NewAxis(), Range(), IndexItem::NewAxis()});
  EXPECT_THAT(v.layout.shape(), ElementsAre(1, 3, 1, 4));
  EXPECT_TRUE(v.layout.is_contiguous());
}

TEST(Views, BadIndicesAreRefusedWithTheReason) {
  EXPECT_EQ(IndexStatus(kMatrix, {At(3)}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(IndexStatus(kMatrix, {At(-4)}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(IndexStatus(kMatrix, {Range(), At(INT64_MIN)}).message()),
              HasSubstr("out of range for dimension 1 of size 4"));
  EXPECT_EQ(IndexStatus(kMatrix, {At(0), At(0), At(0)}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(IndexStatus(kMatrix, {Range({.step = 0})}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(IndexStatus(kMatrix, {IndexItem::Ellipsis(), IndexItem::Ellipsis()}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(IndexStatus(kMatrix, Items(63, IndexItem::NewAxis())).code(),
            absl::StatusCode::kInvalidArgument);
}

// Python's own rule (PySlice_AdjustIndices in Objects/sliceobject.c), element by element.
std::vector<int64_t> PythonSlice(const SliceSpec& s, int64_t size) {
  auto clip = [&](std::optional<int64_t> bound, int64_t otherwise) {
    if (!bound) return otherwise;
    int64_t b = *bound;
    if (b < 0) {
      b += size;
      if (b < 0) b = s.step < 0 ? -1 : 0;
    } else if (b >= size) {
      b = s.step < 0 ? size - 1 : size;
    }
    return b;
  };
  const int64_t start = clip(s.start, s.step < 0 ? size - 1 : 0);
  const int64_t stop = clip(s.stop, s.step < 0 ? -1 : size);
  std::vector<int64_t> taken;
  for (__int128 i = start; s.step < 0 ? i > stop : i < stop; i += s.step) {
    taken.push_back(static_cast<int64_t>(i));
  }
  return taken;
}

TEST(Views, SlicesTakeWhatPythonsDo) {
  std::vector<std::optional<int64_t>> bounds = {std::nullopt, INT64_MIN, INT64_MAX};
  for (int64_t b = -7; b <= 7; ++b) bounds.push_back(b);
  for (int64_t size : {0, 1, 2, 5}) {
    const Layout layout = *Layout::Strided({size}, {3});
    for (const auto& start : bounds) {
      for (const auto& stop : bounds) {
        for (int64_t step :
             {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{-1}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
          const SliceSpec spec{start, stop, step};
          const std::vector<int64_t> expected = PythonSlice(spec, size);
          const LayoutView v = Indexed(layout, {Range(spec)});
          ASSERT_EQ(v.layout.shape(0), static_cast<int64_t>(expected.size()));
          for (size_t i = 0; i < expected.size(); ++i) {
            const int64_t along = i == 0 ? 0 : static_cast<int64_t>(i) * v.layout.stride(0);
            ASSERT_EQ(v.offset + along, expected[i] * 3);
          }
        }
      }
    }
  }
}

TEST(Views, EmptyLayoutsWithHugeStridesCanBeViewedInEveryWay) {
  const Layout empty = *Layout::Strided({0, 3, 2}, {INT64_MAX, INT64_MIN, INT64_MAX});
  EXPECT_EQ(Indexed(empty, {Range(), At(2), At(-1)}).offset, 0);
  EXPECT_EQ(Indexed(empty, {Range(), Range({.step = -1}), IndexItem::NewAxis()}).offset, 0);
  LayoutView v;
  EXPECT_TRUE(Permute(empty, {2, 1, 0}, &v).ok());
  EXPECT_TRUE(Reshape(empty, {6, 0}, &v).ok());
  EXPECT_TRUE(BroadcastTo(empty, {5, 0, 3, 2}, &v).ok());
}

TEST(Views, PermuteNamesEachDimensionOnce) {
  const Layout cube = *Layout::Contiguous({2, 3, 4});
  LayoutView v;
  ASSERT_TRUE(Permute(cube, {2, -3, 1}, &v).ok());
  EXPECT_THAT(v.layout.shape(), ElementsAre(4, 2, 3));
  EXPECT_THAT(v.layout.strides(), ElementsAre(1, 12, 4));
  EXPECT_EQ(Permute(cube, {0, 1}, &v).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Permute(cube, {0, 1, 1}, &v).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Permute(cube, {0, 1, 2, 2}, &v).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Permute(cube, {0, 1, 3}, &v).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Permute(cube, {0, 1, -4}, &v).code(), absl::StatusCode::kOutOfRange);
}

TEST(Views, PermuteWorksAtTheLargestRank) {
  const Layout layout = *Layout::Contiguous(std::vector<int64_t>(64, 1));
  std::vector<int64_t> order(64);
  for (int i = 0; i < 64; ++i) order[i] = 63 - i;
  LayoutView v;
  EXPECT_TRUE(Permute(layout, order, &v).ok());
  order[0] = 0;
  EXPECT_FALSE(Permute(layout, order, &v).ok());
}

TEST(Views, BroadcastRepeatsDimensionsOfOneAndAddsLeadingOnes) {
  const Layout column = *Layout::Contiguous({3, 1});
  LayoutView v;
  ASSERT_TRUE(BroadcastTo(column, {2, 3, 4}, &v).ok());
  EXPECT_THAT(v.layout.shape(), ElementsAre(2, 3, 4));
  EXPECT_THAT(v.layout.strides(), ElementsAre(0, 1, 0));
  ASSERT_TRUE(BroadcastTo(column, {3, 0}, &v).ok());
  EXPECT_EQ(v.layout.num_elements(), 0);
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{3}, {4, 1}, {3, 1, 1}, {-1, 3, 1}, {3, -1}}) {
    EXPECT_EQ(BroadcastTo(column, shape, &v).code(), absl::StatusCode::kInvalidArgument)
        << ShapeToString(shape);
  }
}

TEST(Views, BroadcastToMoreElementsThanCanBeCountedIsRefused) {
  LayoutView v;
  EXPECT_EQ(BroadcastTo(Layout(), {INT64_MAX, 2}, &v).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(BroadcastTo(Layout(), {INT64_MAX}, &v).ok());
}

}  // namespace
}  // namespace dovetail
