#include "dovetail/core/reshard/box.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "dovetail/core/reshard/box_index.h"
#include "dovetail/core/reshard/boxes_for_tests.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

using Elements = std::vector<int64_t>;

std::vector<Box> RandomBoxes(std::mt19937& random, const std::vector<int64_t>& shape,
                             int64_t most) {
  std::vector<Box> boxes(static_cast<size_t>(RandomNumber(random, 0, most)));
  for (Box& box : boxes) box = RandomBox(random, shape);
  return boxes;
}

// Boxes that together have each element of the shape once.
std::vector<Box> RandomTiles(std::mt19937& random, const std::vector<int64_t>& shape) {
  std::vector<Box> tiles = {WholeBox(shape)};
  for (int64_t cuts = RandomNumber(random, 0, 30); cuts > 0 && !shape.empty(); --cuts) {
    Box& tile = tiles[static_cast<size_t>(RandomNumber(random, 0, std::ssize(tiles) - 1))];
    const auto dim = static_cast<size_t>(RandomNumber(random, 0, std::ssize(shape) - 1));
    if (tile[dim].size() < 2) continue;
    Box behind = tile;
    behind[dim].start = RandomNumber(random, tile[dim].start + 1, tile[dim].stop - 1);
    tile[dim].stop = behind[dim].start;
    tiles.push_back(std::move(behind));
  }
  std::shuffle(tiles.begin(), tiles.end(), random);
  return tiles;
}

TEST(BoxTest, TheWholeBoxHasAllElements) {
  EXPECT_EQ(NumElements(WholeBox({3, 4, 5})), 60);
  EXPECT_EQ(NumElements(WholeBox({3, 0, 5})), 0);
  EXPECT_EQ(NumElements(WholeBox({})), 1);
  EXPECT_EQ(NumElements(WholeBox({int64_t{1} << 31, int64_t{1} << 31})), int64_t{1} << 62);
}

TEST(BoxTest, ABoxWithAnEmptyRangeHasNoElements) {
  EXPECT_EQ(NumElements(Box{{0, 4}, {2, 2}}), 0);
  EXPECT_EQ(NumElements(Box{{4, 0}, {2, 3}}), 0);
  EXPECT_EQ(Intersection(Box{{2, 2}}, Box{{0, 4}}), std::nullopt);
}

TEST(BoxTest, IsPrintedAsSlices) {
  EXPECT_EQ(BoxToString({{0, 4}, {2, 6}}), "[0:4, 2:6]");
  EXPECT_EQ(BoxToString({}), "[]");
}

TEST(BoxTest, AnIntersectionHasTheElementsOfBothBoxes) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random, 4, 6);
    const Box a = RandomBox(random, shape), b = RandomBox(random, shape);
    const Elements of_a = ElementsOf(a, shape), of_b = ElementsOf(b, shape);
    Elements expected;
    std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          std::back_inserter(expected));
    const std::optional<Box> common = Intersection(a, b);
    ASSERT_EQ(common.has_value(), !expected.empty());
    ASSERT_EQ(common, Intersection(b, a));
    if (!common) continue;
    ASSERT_EQ(ElementsOf(*common, shape), expected);
  }
}

TEST(BoxTest, ADifferenceHasEachElementThatTheHoleLacksOnce) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random, 4, 6);
    const Box box = RandomBox(random, shape), hole = RandomBox(random, shape);
    const Elements of_box = ElementsOf(box, shape), of_hole = ElementsOf(hole, shape);
    Elements expected;
    std::set_difference(of_box.begin(), of_box.end(), of_hole.begin(), of_hole.end(),
                        std::back_inserter(expected));
    std::vector<Box> difference = {WholeBox(shape)};  // what is there already stays
    AppendDifference(box, hole, &difference);
    ASSERT_EQ(difference.front(), WholeBox(shape));
    Elements elements;
    for (size_t j = 1; j < difference.size(); ++j) {
      const Elements more = ElementsOf(difference[j], shape);
      ASSERT_FALSE(more.empty());
      elements.insert(elements.end(), more.begin(), more.end());
    }
    std::sort(elements.begin(), elements.end());
    ASSERT_EQ(elements, expected);
    ASSERT_LE(difference.size(), 1 + std::max<size_t>(1, 2 * shape.size()));
  }
}

TEST(BoxTest, NothingOverflowsNearTheLargestSizes) {
  const int64_t size = INT64_MAX;
  const Box whole = WholeBox({size}), middle = {{size / 2, size / 2 + 1}};
  EXPECT_EQ(NumElements(whole), size);
  EXPECT_EQ(Intersection(whole, middle), middle);
  std::vector<Box> difference;
  AppendDifference(whole, middle, &difference);
  EXPECT_EQ(difference, (std::vector<Box>{{{0, size / 2}}, {{size / 2 + 1, size}}}));
}

TEST(BoxIndexTest, AQueryFindsEachBoxWithCommonElementsOnce) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random, 4, 9);
    const BoxIndex index(RandomBoxes(random, shape, 40));
    for (int j = 0; j < 10; ++j) {
      const Box box = RandomBox(random, shape);
      std::vector<std::pair<size_t, Box>> expected, found;
      for (size_t number = 0; number < index.size(); ++number) {
        if (const auto common = Intersection(box, index[number])) {
          expected.emplace_back(number, *common);
        }
      }
      EXPECT_TRUE(index.ForEachCommon(box, [&](size_t number, const Box& common) {
        found.emplace_back(number, common);
        return true;
      }));
      std::sort(found.begin(), found.end());
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(BoxIndexTest, AQueryEndsWhenTheFunctionSaysSo) {
  const BoxIndex index({{{0, 4}}, {{1, 5}}, {{2, 6}}});
  int calls = 0;
  EXPECT_FALSE(index.ForEachCommon({{3, 4}}, [&](size_t, const Box&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

TEST(BoxIndexTest, FindsTwoBoxesWithCommonElementsIfThereAreAny) {
  std::mt19937 random(4);
  int overlaps = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random, 4, 9);
    std::vector<Box> boxes = RandomTiles(random, shape);
    if (RandomNumber(random, 0, 1) == 1) boxes.push_back(RandomBox(random, shape));
    if (RandomNumber(random, 0, 1) == 1) boxes.erase(boxes.begin());
    bool expected = false;
    for (size_t a = 0; a < boxes.size(); ++a) {
      for (size_t b = 0; b < a; ++b) expected |= Intersection(boxes[a], boxes[b]).has_value();
    }
    const BoxIndex index(boxes);
    const auto found = index.FindOverlap();
    ASSERT_EQ(found.has_value(), expected);
    overlaps += expected ? 1 : 0;
    if (!found) continue;
    ASSERT_LT(found->first, found->second);
    ASSERT_TRUE(Intersection(boxes[found->first], boxes[found->second]).has_value());
  }
  EXPECT_GT(overlaps, 200);
  EXPECT_LT(overlaps, 1800);
}

TEST(BoxIndexTest, FindsElementsThatNoBoxHasIfThereAreAny) {
  std::mt19937 random(5);
  int misses = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<int64_t> shape = RandomShape(random, 4, 9);
    std::vector<Box> boxes = RandomTiles(random, shape);
    for (Box& more : RandomBoxes(random, shape, 3)) boxes.push_back(std::move(more));
    if (RandomNumber(random, 0, 1) == 1) boxes.erase(boxes.begin());
    const Box box = RandomBox(random, shape);
    Elements left = ElementsOf(box, shape);
    for (const Box& one : boxes) {
      const Elements taken = ElementsOf(one, shape);
      std::erase_if(left, [&](int64_t element) {
        return std::binary_search(taken.begin(), taken.end(), element);
      });
    }
    const auto missing = BoxIndex(boxes).FindMissing(box);
    ASSERT_EQ(missing.has_value(), !left.empty());
    misses += missing ? 1 : 0;
    if (!missing) continue;
    for (const int64_t element : ElementsOf(*missing, shape)) {
      ASSERT_TRUE(std::binary_search(left.begin(), left.end(), element));
    }
  }
  EXPECT_GT(misses, 200);
  EXPECT_LT(misses, 1800);
}

TEST(BoxIndexTest, AnEmptyListLacksAllElements) {
  const BoxIndex index({});
  EXPECT_EQ(index.FindOverlap(), std::nullopt);
  EXPECT_EQ(index.FindMissing({{0, 4}}), (Box{{0, 4}}));
  EXPECT_EQ(index.FindMissing({}), Box());
  EXPECT_EQ(index.FindMissing({{4, 4}}), std::nullopt);
}

TEST(BoxIndexTest, BoxesOfRank0HaveTheSameElement) {
  const BoxIndex index({{}, {}});
  EXPECT_EQ(index.FindOverlap(), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(index.FindMissing({}), std::nullopt);
}

}  // namespace
}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
