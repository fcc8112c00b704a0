#include "dovetail/core/internal/reference_count.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(ReferenceCount, OnlyTheLastDropReturnsTrue) {
  ReferenceCount count;
  EXPECT_EQ(count.value(), 1);
  count.Add();
  count.Add();
  EXPECT_EQ(count.value(), 3);
  EXPECT_FALSE(count.Drop());
  EXPECT_FALSE(count.Drop());
  EXPECT_EQ(count.value(), 1);
  EXPECT_TRUE(count.Drop());
}

TEST(ReferenceCount, AddUnsharedAddsOneOwner) {
  ReferenceCount count;
  count.AddUnshared();  // the only one
  EXPECT_EQ(count.value(), 2);
  count.AddUnshared();  // one of several
  EXPECT_EQ(count.value(), 3);
}

TEST(ReferenceCount, ThreadsSeeWhatWasCountedBeforeThemAndLoseNothing) {
  constexpr int kThreads = 4, kTurns = 20000;
  ReferenceCount count;
  for (int i = 0; i < kThreads; ++i) count.Add();  // with one thread: one for each
  std::atomic<int> last{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        count.Add();
        last += count.Drop();
      }
      last += count.Drop();
    });
  }
  last += count.Drop();  // drops the first owner while the other threads run
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace dovetail
