// No byte outside of the elements' reach is read or written: the pages on both sides can't be
// touched at all, and the copies begin or end right at them.

#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

constexpr int64_t kMostBytes = 8 << 20;

class GuardPages : public testing::TestWithParam<unsigned> {
 protected:
  void Check(const CopyCase& copy, Random* random) {
    const Reach to = copy.DstReach(), from = copy.SrcReach();
    if (to.bytes > kMostBytes || from.bytes > kMostBytes) return;
    const CopyPlan plan = copy.Plan();
    for (const Way& way : AllWays()) {
      const bool end = (*random)() % 2 == 0;
      char* d = dst_.At(end, to.bytes);
      char* s = src_.At((*random)() % 2 == 0, from.bytes);
      Execute(plan, d + to.first, s + from.first,
              {.kernels = &way.kernels, .stream_from = way.stream_from});
      ++copies_;
    }
  }

  GuardedMemory dst_{kMostBytes}, src_{kMostBytes};
  int copies_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Seeds, GuardPages, testing::Range(0u, 4u));

TEST_P(GuardPages, AreNotTouchedByRandomCopies) {
  Random random(GetParam());
  for (int round = 0; round < 1000; ++round) Check(RandomCase(&random), &random);
  EXPECT_GT(copies_, 1000);
}

TEST_P(GuardPages, AreNotTouchedByAnyKernel) {
  Random random(GetParam());
  for (CopyKernel kernel : kAllCopyKernels) {
    copies_ = 0;
    for (int round = 0; round < 60; ++round) Check(CaseFor(kernel, &random), &random);
    EXPECT_GT(copies_, 60) << "kernel " << static_cast<int>(kernel);
  }
}

TEST_P(GuardPages, AreNotTouchedByWholeLines) {
  Random random(GetParam());
  for (CopyKernel kernel : {CopyKernel::kTranspose, CopyKernel::kPermute}) {
    copies_ = 0;
    for (int round = 0; round < 120; ++round) Check(LinesCase(kernel, &random), &random);
    EXPECT_GT(copies_, 120);
  }
  copies_ = 0;
  for (int round = 0; round < 120; ++round) {
    Check(MisalignedCase(&random), &random);
    Check(ContinuedCase(&random), &random);
    Check(ShortRunsCase(&random), &random);
    Check(JoinedRowsCase(&random), &random);
    Check(FewPlanesCase(&random), &random);
    Check(RowsOfGroupsCase(&random), &random);
    Check(CollidingCase(&random), &random);
    Check(SquaresCase(&random), &random);
  }
  EXPECT_GT(copies_, 120);
}

TEST(GuardPagesDeathTest, CatchAByteTooMany) {
  const GuardedMemory memory(100);
  EXPECT_DEATH(memory.At(true, 100)[100] = 1, "");
  EXPECT_DEATH(memory.At(false, 100)[-1] = 1, "");
}

}  // namespace
}  // namespace dovetail::cpu
