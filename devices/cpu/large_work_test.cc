#include "dovetail/devices/cpu/large_work.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/testing/answers.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

// How often each of the parts was run.
std::vector<int> CountsOf(const LargeWork& work, int64_t parts, bool* done) {
  std::vector<std::atomic<int>> counts(parts);
  *done = work.Run(parts, [&](int64_t part) { ++counts[part]; });
  return {counts.begin(), counts.end()};
}

TEST(LargeWork, SmallWorkIsOnePart) {
  const ScopedNumThreads threads(4);
  const LargeWork work((2 << 20) - 1);
  EXPECT_EQ(work.most_parts(), 1);
  EXPECT_EQ(work.least_parts(), 1);
}

TEST(LargeWork, LeastPartsKeepAllThreadsAtWork) {
  const ScopedNumThreads threads(3);
  const LargeWork work(20 << 20);
  EXPECT_EQ(work.least_parts(), 3);
  EXPECT_GT(work.most_parts(), work.least_parts());
}

TEST(LargeWork, EachPartIsDoneOnceHoweverManyThereAre) {
  for (int count : {1, 2, 3}) {
    const ScopedNumThreads threads(count);
    Answers answers{.no = 100};
    const ScopedInterruption scope(Answers::Ask, &answers);
    const LargeWork work(int64_t{130} << 20);
    for (int64_t parts : {1, 2, 3, 8, 9, 31, 32}) {
      bool done = false;
      EXPECT_EQ(CountsOf(work, parts, &done), std::vector<int>(parts, 1));
      EXPECT_TRUE(done);
    }
  }
}

TEST(LargeWork, NoThreadIsIdleBeforeTheLastRound) {
  const ScopedNumThreads threads(2);
  Answers answers{.no = 0};
  const ScopedInterruption scope(Answers::Ask, &answers);
  const LargeWork work(int64_t{130} << 20);
  for (int64_t parts : {8, 9, 32}) {
    bool done = true;
    int64_t first_round = 0;
    for (int count : CountsOf(work, parts, &done)) first_round += count;
    EXPECT_FALSE(done) << "somebody was asked, and said yes";
    EXPECT_EQ(first_round % 2, 0) << parts << " parts";
    EXPECT_LT(first_round, parts);
  }
}

TEST(LargeWork, WhoIsNotAskedCannotStopIt) {
  const ScopedNumThreads threads(2);
  Answers answers{.no = 0};
  const ScopedInterruption scope(Answers::Ask, &answers);
  bool done = false;
  EXPECT_EQ(CountsOf(LargeWork(60 << 20), 8, &done), std::vector<int>(8, 1));
  EXPECT_TRUE(done);
  EXPECT_EQ(answers.asked, 0);
}

}  // namespace
}  // namespace dovetail::cpu
