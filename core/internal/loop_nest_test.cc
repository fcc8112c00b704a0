#include "dovetail/core/internal/loop_nest.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "dovetail/core/internal/odometer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::internal_loop_nest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Loops = std::vector<Loop>;  // the innermost first
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

constexpr NormalForm kDefault;
constexpr NormalForm kSourceOrder{.ties = NormalForm::Ties::kShorterInSrc};
constexpr NormalForm kLastWrites{.zero_step = NormalForm::ZeroStep::kLastIteration};
constexpr NormalForm kAsGiven{.order = NormalForm::Order::kAsGiven};

struct Nest {
  Loops loops;
  Loop::Offsets start;
};

template <NormalForm kForm>
Nest Normalized(Loops loops) {
  Nest nest;
  const int rank = Normalize<kForm>(loops.data(), static_cast<int>(loops.size()), &nest.start);
  nest.loops.assign(loops.begin(), loops.begin() + rank);
  return nest;
}

// The offsets (dst, src) of all iterations, in order, by loops within loops.
void Enumerate(const Loops& loops, size_t left, int64_t dst, int64_t src, Pairs* pairs) {
  if (left == 0) return pairs->emplace_back(dst, src), void();
  const Loop& loop = loops[left - 1];
  for (int64_t i = 0; i < loop.count; ++i) {
    Enumerate(loops, left - 1, dst + i * loop.dst_step, src + i * loop.src_step, pairs);
  }
}
Pairs Enumerate(const Nest& nest) {
  Pairs pairs;
  Enumerate(nest.loops, nest.loops.size(), nest.start.dst, nest.start.src, &pairs);
  return pairs;
}

Pairs ByOdometer(const Nest& nest) {
  Pairs pairs;
  Odometer at(nest.loops.data(), static_cast<int>(nest.loops.size()));
  do {
    pairs.emplace_back(nest.start.dst + at.dst, nest.start.src + at.src);
  } while (at.Next());
  return pairs;
}

Pairs Sorted(Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// What each offset of dst holds in the end.
std::map<int64_t, int64_t> LastWrites(const Pairs& pairs) {
  std::map<int64_t, int64_t> last;
  for (const auto& [dst, src] : pairs) last[dst] = src;
  return last;
}

// Loops whose iterations write elements that lie apart in dst, but for steps of 0; with any steps
// in src, and many that continue each other.
Loops RandomLoops(std::mt19937* random) {
  const auto pick = [random](int64_t lowest, int64_t highest) {
    return lowest + static_cast<int64_t>((*random)() % (highest - lowest + 1));
  };
  Loops loops(pick(0, 5));
  int64_t dst = 1, src = 1;
  for (Loop& loop : loops) {
    loop = {pick(1, 4), dst, pick(0, 2) > 0 ? src : pick(-20, 20)};
    dst *= loop.count;
    src = loop.count * loop.src_step;
    if (pick(0, 2) == 0) dst += pick(0, 3);
    if (pick(0, 3) == 0) loop.dst_step = -loop.dst_step;
    if (pick(0, 3) == 0) loop.src_step = -loop.src_step;
    if (pick(0, 3) == 0) std::swap(loop.dst_step, loop.src_step);
    if (pick(0, 7) == 0) loop.dst_step = 0;
    if (loop.count == 1) loop = {1, INT64_MAX, INT64_MIN};
  }
  std::shuffle(loops.begin(), loops.end(), *random);
  return loops;
}

// Whether several iterations write one element even without the loops of step 0, so that the order
// of loops decides which value stays.
bool OverlapsInDst(const Loops& loops) {
  const Pairs pairs = Sorted(Enumerate(Normalized<kLastWrites>(loops)));
  return std::adjacent_find(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
           return a.first == b.first;
         }) != pairs.end();
}

TEST(LoopNest, EveryFormHasTheSamePairsOfOffsets) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const Loops loops = RandomLoops(&random);
    const Pairs pairs = Enumerate(Normalized<kAsGiven>(loops));
    const Pairs sorted = Sorted(pairs);
    ASSERT_EQ(Sorted(Enumerate(Normalized<kDefault>(loops))), sorted);
    ASSERT_EQ(Sorted(Enumerate(Normalized<kSourceOrder>(loops))), sorted);
  }
}

TEST(LoopNest, KeptOrderIsTheOrderOfTheLoops) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    Loops loops = RandomLoops(&random);
    const Nest nest = Normalized<kAsGiven>(loops);
    std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
    ASSERT_EQ(Enumerate(nest), Enumerate({loops, {}}));
    ASSERT_LE(nest.loops.size(), loops.size());
  }
}

TEST(LoopNest, TheLastWriteOfAStepOfZeroStays) {
  std::mt19937 random(3);
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    const Loops loops = RandomLoops(&random);
    if (OverlapsInDst(loops)) continue;
    ++compared;
    const Pairs written = Enumerate(Normalized<kLastWrites>(loops));
    const auto last = LastWrites(Enumerate(Normalized<kAsGiven>(loops)));
    ASSERT_EQ(LastWrites(written), last);
    ASSERT_EQ(written.size(), last.size()) << "nothing is written twice";
  }
  EXPECT_GT(compared, 5000);
}

TEST(LoopNest, LoopsAscendInDstAndNoneContinuesAnother) {
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) {
    const Loops loops = RandomLoops(&random);
    for (const Nest& nest : {Normalized<kDefault>(loops), Normalized<kSourceOrder>(loops)}) {
      for (size_t k = 0; k < nest.loops.size(); ++k) {
        ASSERT_GT(nest.loops[k].count, 1);
        ASSERT_GE(nest.loops[k].dst_step, 0);
        if (k == 0) continue;
        ASSERT_LE(nest.loops[k - 1].dst_step, nest.loops[k].dst_step);
        ASSERT_FALSE(nest.loops[k - 1].IsContinuedBy(nest.loops[k]));
      }
    }
  }
}

TEST(LoopNest, LoopsThatContinueEachOtherAreOneInAnyOrder) {
  for (Loops loops : {Loops{{4, 4, 4}, {3, 16, 16}, {5, 48, 48}},
                      {{5, 48, 48}, {4, 4, 4}, {3, 16, 16}},
                      {{3, -16, -16}, {5, 48, 48}, {4, 4, 4}}}) {
    EXPECT_THAT(Normalized<kDefault>(loops).loops, ElementsAre(Loop{60, 4, 4}));
  }
}

TEST(LoopNest, ReversedLoopsStartAtTheOtherEnd) {
  const Nest nest = Normalized<kDefault>({{3, -4, 4}, {5, -12, 12}});
  EXPECT_THAT(nest.loops, ElementsAre(Loop{15, 4, -4}));
  EXPECT_EQ(nest.start.dst, -56);
  EXPECT_EQ(nest.start.src, 56);
}

TEST(LoopNest, TiesInDstAreAsGivenOrDecidedBySrc) {
  const Loops loops = {{2, 8, 40}, {3, 8, -4}, {5, 8, 4}};
  EXPECT_THAT(Normalized<kDefault>(loops).loops, ElementsAre(loops[0], loops[1], loops[2]));
  EXPECT_THAT(Normalized<kSourceOrder>(loops).loops, ElementsAre(loops[1], loops[2], loops[0]));
}

TEST(LoopNest, AStepOfZeroIsKeptOrHasItsLastIteration) {
  const Loops loops = {{10, 4, 4}, {7, 0, 40}};
  EXPECT_THAT(Normalized<kDefault>(loops).loops, ElementsAre(loops[1], loops[0]));
  const Nest last = Normalized<kLastWrites>(loops);
  EXPECT_THAT(last.loops, ElementsAre(loops[0]));
  EXPECT_EQ(last.start.dst, 0);
  EXPECT_EQ(last.start.src, 240);
}

TEST(LoopNest, StepsOfOneIterationMeanNothing) {
  EXPECT_THAT(Normalized<kDefault>({{1, INT64_MIN, INT64_MAX}, {1, 0, 0}}).loops, IsEmpty());
  EXPECT_THAT(Normalized<kAsGiven>({{1, INT64_MIN, INT64_MAX}}).loops, IsEmpty());
}

TEST(LoopNest, StepsUpToTheLimitDoNotOverflow) {
  // The product of the first loop's step and count does.
  const Loops loops = {{2, INT64_MAX, INT64_MAX}, {2, 3, 5}};
  EXPECT_THAT(Normalized<kAsGiven>(loops).loops, ElementsAre(loops[0], loops[1]));
}

TEST(Odometer, GoesThroughAllIterationsInOrder) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    Nest nest{RandomLoops(&random), {}};
    std::erase_if(nest.loops, [](const Loop& loop) { return loop.count == 1; });
    ASSERT_EQ(ByOdometer(nest), Enumerate(nest));
  }
}

TEST(Odometer, IsBackAtTheStartAfterTheLastIteration) {
  const Loop loops[] = {{3, 4, INT64_MAX / 4}, {1, INT64_MAX, INT64_MIN}, {2, -100, 7}};
  Odometer at(loops, 3);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(at.index(0), i % 3);
    EXPECT_EQ(at.index(2), i / 3);
    EXPECT_TRUE(at.Next());
  }
  EXPECT_EQ(at.dst, 2 * 4 - 100);
  EXPECT_FALSE(at.Next());
  EXPECT_EQ(at.dst, 0);
  EXPECT_EQ(at.src, 0);
  EXPECT_EQ(at.index(2), 0);
}

TEST(Odometer, NoLoopsHaveOneIteration) {
  Odometer at(nullptr, 0);
  EXPECT_FALSE(at.Next());
}

TEST(Odometer, OneOperandHasOneOffset) {
  const ElementLoop loops[] = {{2, -3}, {2, 10}};
  ElementOdometer at(loops, 2);
  std::vector<int64_t> offsets;
  do {
    offsets.push_back(at.offset);
  } while (at.Next());
  EXPECT_THAT(offsets, ElementsAre(0, -3, 10, 7));
}

TEST(NextIteration, GoesFromBoxToBox) {
  const Loop loops[] = {{5, 1, 10}, {3, 100, 0}};
  const int64_t box[] = {2, 3};
  int64_t index[] = {0, 0};
  Loop::Offsets at;
  Pairs pairs;
  do {
    pairs.emplace_back(at.dst, at.src);
  } while (NextIteration(loops, 2, index, &at, [&](int i) { return box[i]; }));
  EXPECT_THAT(pairs, ElementsAre(std::pair(0, 0), std::pair(2, 20), std::pair(4, 40)));
  EXPECT_EQ(at.dst, 0);
  EXPECT_EQ(index[0], 0);
}

}  // namespace
}  // namespace dovetail::internal_loop_nest
