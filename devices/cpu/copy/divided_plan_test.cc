#include "dovetail/devices/cpu/copy/divided_plan.h"

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/testing/answers.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

using Bytes = std::vector<char>;

class DividedPlanProperty : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, DividedPlanProperty, testing::Range(0u, 4u));

TEST_P(DividedPlanProperty, TogetherTheyWriteWhatTheWholeWrites) {
  Random random(GetParam());
  int divided = 0;
  for (int round = 0; round < 300; ++round) {
    const CopyCase copy =
        round % 3 == 0   ? CaseFor(kAllCopyKernels[random() % std::size(kAllCopyKernels)], &random)
        : round % 5 == 0 ? RowsOfGroupsCase(&random)
                         : RandomCase(&random);
    const CopyPlan plan = copy.Plan();
    const Reach to = copy.DstReach(), from = copy.SrcReach();
    Bytes src(from.bytes), expected(to.bytes), dst(to.bytes);
    for (char& byte : src) byte = static_cast<char>(random());
    copy.Naive(expected.data() + to.first, src.data() + from.first);
    const auto most = static_cast<int64_t>(1 + random() % 9);
    const DividedPlan parts(plan, most, 1 + static_cast<int64_t>(random() % 9) % most);
    divided += parts.count() > 1;
    const int64_t stream_from = random() % 2 == 0 ? 0 : INT64_MAX;
    for (int64_t part = parts.count() - 1; part >= 0; --part) {
      parts.Run(part, dst.data() + to.first, src.data() + from.first, {.stream_from = stream_from});
    }
    ASSERT_EQ(dst, expected) << copy.ToString() << " parts " << parts.count();
  }
  EXPECT_GT(divided, 50);
}

TEST(DividedPlan, ALargeRowIsDivided) {
  CopyPlan plan;
  plan.Add({1 << 20, 1, 1});
  plan.Finish(1);
  EXPECT_EQ(DividedPlan(plan, 8, 8).count(), 8);
  EXPECT_EQ(DividedPlan(plan, 1, 1).count(), 1);
}

TEST(DividedPlan, ATransposeHasNoMoreThanItNeedsWhereTheyWouldBeShortInSrc) {
  const auto transpose = [](int64_t columns) {
    CopyPlan plan;
    plan.Add({3000, 4, columns * 4});
    plan.Add({columns, 3000 * 4, 4});
    plan.Finish(4);
    return plan;
  };
  const CopyPlan narrow = transpose(4096), wide = transpose(16 << 10);
  EXPECT_EQ(DividedPlan(narrow, 8, 2).count(), 2);
  EXPECT_EQ(DividedPlan(narrow, 8, 4).count(), 4);
  EXPECT_EQ(DividedPlan(wide, 8, 2).count(), 8);
  EXPECT_EQ(DividedPlan(transpose(7000), 8, 2).count(), 2) << "three would leave a thread idle";
}

TEST(DividedPlan, ATransposeIsDividedBetweenItsRowsOfSrcWhereThatMakesEnoughParts) {
  constexpr int64_t kRows = 256, kColumns = 56 * 56;
  CopyPlan plan;
  plan.Add({4, kRows * kColumns * 4, kRows * kColumns * 4});
  plan.Add({kRows, 4, kColumns * 4});
  plan.Add({kColumns, kRows * 4, 4});
  plan.Finish(4);
  ASSERT_EQ(plan.kernel, CopyKernel::kTranspose);
  EXPECT_EQ(DividedPlan(plan, 8, 2).count(), 4);
}

TEST(DividedPlan, PixelsAreNotTornApart) {
  CopyPlan plan;
  plan.Add({1000, 3, 1});
  plan.Add({3, 1, 1000});
  plan.Finish(1);
  ASSERT_EQ(plan.kernel, CopyKernel::kPermute);
  EXPECT_EQ(DividedPlan(plan, 3, 3).count(), 1);
}

// Several copies at a time, each on several threads: what the sanitizer for threads looks at.
TEST(ExecuteInParts, CopiesOnSeveralThreads) {
  const ScopedNumThreads set(3);
  constexpr int64_t kN = 1100, kM = 1003;
  std::vector<int32_t> src(kN * kM);
  std::iota(src.begin(), src.end(), 0);
  CopyPlan plan;
  plan.Add({kN, kM * 4, 4});
  plan.Add({kM, 4, kN * 4});
  plan.Finish(4);
  ASSERT_GT(DividedPlan(plan, 4, 3).count(), 1);
  auto copy_and_check = [&] {
    for (int round = 0; round < 3; ++round) {
      std::vector<int32_t> dst(kN * kM);
      ASSERT_TRUE(ExecuteInParts(plan, dst.data(), src.data()));
      for (int64_t i = 0; i < kN; ++i) {
        for (int64_t j = 0; j < kM; ++j) ASSERT_EQ(dst[i * kM + j], j * kN + i);
      }
    }
  };
  std::thread other(copy_and_check);
  copy_and_check();
  other.join();
}

CopyPlan LargeRow(int64_t bytes) {
  CopyPlan plan;
  plan.Add({bytes, 1, 1});
  plan.Finish(1);
  return plan;
}

TEST(ExecuteInParts, AVeryLargeCopyCanBeStopped) {
  for (int threads : {1, 2}) {
    const ScopedNumThreads set(threads);
    const Bytes src(130 << 20, 7);
    Bytes dst(src.size(), 0);
    Answers answers{.no = 1};
    const ScopedInterruption scope(Answers::Ask, &answers);
    EXPECT_FALSE(ExecuteInParts(LargeRow(src.size()), dst.data(), src.data()));
    EXPECT_EQ(answers.asked, 2);
    EXPECT_EQ(dst.front(), 7);
    EXPECT_EQ(dst.back(), 0) << "the copy went on";
  }
}

TEST(ExecuteInParts, ACopyThatNobodyStopsIsWhole) {
  const Bytes src(130 << 20, 7);
  Bytes dst(src.size(), 0);
  Answers answers{.no = 100};
  const ScopedInterruption scope(Answers::Ask, &answers);
  EXPECT_TRUE(ExecuteInParts(LargeRow(src.size()), dst.data(), src.data()));
  EXPECT_GE(answers.asked, 2);
  EXPECT_EQ(dst, src);
}

TEST(ExecuteInParts, ASmallCopyAsksNobody) {
  const Bytes src(8 << 20, 7);
  Bytes dst(src.size(), 0);
  Answers answers{.no = 0};
  const ScopedInterruption scope(Answers::Ask, &answers);
  EXPECT_TRUE(ExecuteInParts(LargeRow(src.size()), dst.data(), src.data()));
  EXPECT_EQ(answers.asked, 0);
  EXPECT_EQ(dst, src);
}

}  // namespace
}  // namespace dovetail::cpu
