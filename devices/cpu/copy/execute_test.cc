// Every plan against the plainest loop there is: at each level of vector instructions, through the
// cache and past it, by the kernel that was planned and by every other one that could do it.

#include "dovetail/devices/cpu/copy/execute.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "dovetail/devices/cpu/copy/streamed_rows.h"
#include "dovetail/devices/cpu/copy/streamed_transpose.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

using Bytes = std::vector<char>;

Bytes RandomBytes(int64_t count, Random* random) {
  Bytes bytes((count + 3) / 4 * 4);
  for (size_t i = 0; i < bytes.size(); i += 4) {
    const auto four = static_cast<uint32_t>((*random)());
    std::memcpy(&bytes[i], &four, 4);
  }
  bytes.resize(count);
  return bytes;
}

// The plan, and what other kernels could do in its place.
std::vector<CopyPlan> PlansFor(const CopyCase& copy) {
  const CopyPlan plan = copy.Plan();
  std::vector<CopyPlan> plans = {plan};
  auto add = [&](CopyKernel kernel) {
    plans.push_back(plan);
    plans.back().kernel = kernel;
  };
  if (plan.kernel != CopyKernel::kElements && plan.kernel != CopyKernel::kNothing) {
    add(CopyKernel::kElements);
  }
  if (plan.HasPlanes() && plan.loops[1].src_step > 0 && plan.loops[0].dst_step == plan.unit() &&
      plan.loops[0].src_step != 0) {
    add(CopyKernel::kTranspose);
  }
  return plans;
}

// Copies of both sides with some bytes around them; everything must be as after the naive copy. The
// lowest byte of dst is so many bytes after a line, or anywhere; that of src is anywhere, or at
// one.
void Check(const CopyCase& copy, Random* random, int64_t after_line = -1,
           bool src_at_line = false) {
  constexpr int64_t kEdge = 130;
  const Reach dst_reach = copy.DstReach(), src_reach = copy.SrcReach();
  int64_t src_at = (*random)() % kEdge;
  int64_t dst_at = (*random)() % kEdge;
  const Bytes src = RandomBytes(src_reach.bytes + kEdge, random);
  if (src_at_line) src_at = -reinterpret_cast<uintptr_t>(src.data()) % 64;
  const Bytes before = RandomBytes(dst_reach.bytes + 2 * kEdge, random);
  Bytes dst = before;
  if (after_line >= 0) dst_at = -reinterpret_cast<uintptr_t>(dst.data()) % 64 + after_line;
  Bytes expected = before;
  copy.Naive(expected.data() + dst_at + dst_reach.first, src.data() + src_at + src_reach.first);
  for (const CopyPlan& plan : PlansFor(copy)) {
    for (const Way& way : AllWays()) {
      std::copy(before.begin(), before.end(), dst.begin());  // where it is
      Execute(plan, dst.data() + dst_at + dst_reach.first, src.data() + src_at + src_reach.first,
              {.kernels = &way.kernels, .stream_from = way.stream_from});
      ASSERT_EQ(dst, expected) << copy.ToString() << " kernel " << static_cast<int>(plan.kernel)
                               << " " << way.name;
    }
  }
}

// Whether the copy is streamed without tiles, by one tuning or another, where the
// lowest byte of dst is so many bytes after a line.
bool GoesStraight(const CopyCase& copy, int64_t after = 0) {
  const CopyPlan plan = copy.Plan();
  Bytes dst(copy.DstReach().bytes + 128);
  const Bytes src(copy.SrcReach().bytes);
  char* line = dst.data() + -reinterpret_cast<uintptr_t>(dst.data()) % 64;
  char* const to = line + after + copy.DstReach().first + plan.dst_offset;
  const char* const from = src.data() + copy.SrcReach().first + plan.src_offset;
  Kernels kernels = *KernelsOf(BestSimdLevel());
  for (const CopyTuning* tuning : kAllTunings) {
    kernels.tuning = *tuning;
    if (plan.kernel == CopyKernel::kPermute && kernels.permute != nullptr &&
        kernels.permute(plan.unit(), plan.loops, plan.rank, to, from, /*stream=*/true)) {
      return true;
    }
    if (StreamTranspose(plan, to, from, kernels) || StreamRows(plan, to, from, kernels)) {
      return true;
    }
  }
  return false;
}

// Whether this machine's best level has a kernel that goes straight.
bool HasWholeLines(CopyKernel kernel) {
  const Kernels& kernels = *KernelsOf(BestSimdLevel());
  return kernel == CopyKernel::kTranspose ? kernels.stream_transpose[2] != nullptr
                                          : kernels.permute != nullptr;
}

class ExecuteProperty : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ExecuteProperty, testing::Range(0u, 4u));

TEST_P(ExecuteProperty, RandomCopiesWriteTheSameBytesAsANaiveLoop) {
  Random random(GetParam());
  for (int round = 0; round < 600; ++round) {
    Check(RandomCase(&random), &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ExecuteProperty, EachKernelWritesTheSameBytesAsANaiveLoop) {
  Random random(GetParam() + 100);
  for (CopyKernel kernel : kAllCopyKernels) {
    int planned = 0;
    for (int round = 0; round < 30; ++round) {
      const CopyCase copy = CaseFor(kernel, &random);
      planned += copy.Plan().kernel == kernel;
      Check(copy, &random);
      if (HasFatalFailure()) return;
    }
    EXPECT_GE(planned, 10) << "kernel " << static_cast<int>(kernel) << " was hardly looked at";
  }
}

TEST_P(ExecuteProperty, WholeLinesAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 200);
  for (CopyKernel kernel : {CopyKernel::kTranspose, CopyKernel::kPermute}) {
    int straight = 0;
    for (int round = 0; round < 120; ++round) {
      const CopyCase copy = LinesCase(kernel, &random);
      straight += GoesStraight(copy);
      Check(copy, &random, round % 2 == 0 ? 0 : -1);
      if (HasFatalFailure()) return;
    }
    EXPECT_GE(straight, HasWholeLines(kernel) ? 50 : 0) << "kernel " << static_cast<int>(kernel);
  }
}

TEST_P(ExecuteProperty, RowsOffTheLinesAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 300);
  const Kernels& kernels = *KernelsOf(BestSimdLevel());
  const bool has_vectors = kernels.stream_transpose[2] != nullptr;
  // With whether this machine's best level has kernels that go straight.
  const std::pair<CopyCase (*)(Random*), bool> cases[] = {
      {MisalignedCase, has_vectors},
      {ContinuedCase, has_vectors},
      {JoinedRowsCase, kernels.join_rows != nullptr},
      {DirectRowsCase, true},
  };
  for (const auto& [make, goes_straight] : cases) {
    int straight = 0;
    for (int round = 0; round < 80; ++round) {
      const CopyCase copy = make(&random);
      const int64_t after = random() % 4 * 16;
      straight += GoesStraight(copy, after);
      Check(copy, &random, round % 4 == 0 ? -1 : after);
      if (HasFatalFailure()) return;
    }
    EXPECT_GE(straight, goes_straight ? 30 : 0);
  }
}

// Through tiles that span several loops.
TEST_P(ExecuteProperty, RunsOfShortRowsAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 900);
  for (int round = 0; round < 80; ++round) {
    Check(ShortRunsCase(&random), &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ExecuteProperty, RowsThatCollideInTheCacheAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 400);
  for (int round = 0; round < 60; ++round) {
    Check(CollidingCase(&random), &random, round % 2 == 0 ? 0 : -1);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ExecuteProperty, SquaresOfWholeLinesAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 700);
  for (int round = 0; round < 60; ++round) {
    const bool at_lines = round % 2 == 0;
    Check(SquaresCase(&random), &random, at_lines ? 0 : -1, at_lines);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ExecuteProperty, AFewPlanesAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 600);
  int few = 0;
  for (int round = 0; round < 120; ++round) {
    const CopyCase copy = FewPlanesCase(&random);
    few += copy.Plan().kernel == CopyKernel::kTranspose;
    Check(copy, &random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(few, 40);
}

TEST_P(ExecuteProperty, RowsOfGroupsAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 800);
  int permuted = 0;
  for (int round = 0; round < 120; ++round) {
    const CopyCase copy = RowsOfGroupsCase(&random);
    const CopyPlan plan = copy.Plan();
    permuted += plan.HasGroups();
    Check(copy, &random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(permuted, 20);
}

// Lines of dst that evict each other from the cache and are written a few bytes at a time.
TEST_P(ExecuteProperty, ShortLinesThatCollideInDstAreTheSameBytesAsOfANaiveLoop) {
  Random random(GetParam() + 500);
  for (int64_t e : {1, 2, 4, 8, 16}) {
    auto pick = [&](int64_t from, int64_t to) { return from + random() % (to - from + 1); };
    const int64_t inner = pick(2, 8), along = pick(9, 40), third = pick(2, 4), fourth = pick(1, 2);
    const int64_t plane = 41 * 2 * e, pixel = 2 * e * inner;
    const CopyCase copy{e,
                        {{inner, 2 * e, plane * third * fourth},
                         {along, 4096, 2 * e},
                         {third, pixel, plane},
                         {fourth, pixel * third, plane * third}}};
    EXPECT_EQ(copy.Plan().kernel, CopyKernel::kElements) << copy.ToString();
    EXPECT_EQ(copy.Plan().loops[1].dst_step, 4096) << copy.ToString();
    Check(copy, &random);
    if (HasFatalFailure()) return;
  }
}

// Larger than a block, so that rows continue from block to block, at every place in a line.
TEST(Execute, RowsAreContinuedFromBlockToBlock) {
  Random random(1);
  for (int64_t start = 0; start < 64; start += 31) {
    for (int64_t element : {1, 2, 4, 8, 16}) {
      const int64_t n = 5000 / element + start, m = 5 + 40 / element;
      CopyCase transpose{element, {{m, n * element, element}, {n, element, m * element}}};
      CopyCase rows{element, {{4 * n, 3 * element, 5 * element}, {3, element, element}}};
      for (const CopyCase& copy : {transpose, rows}) {
        Check(copy, &random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Execute, APlanIsGoodForAnyMemory) {
  const CopyCase copy{2, {{30, 80, 2}, {40, 2, 60}}};
  const CopyPlan plan = copy.Plan();
  Random random(2);
  for (int round = 0; round < 3; ++round) {
    const Bytes src = RandomBytes(2400, &random);
    Bytes dst(2400), expected(2400);
    Execute(plan, dst.data(), src.data());
    copy.Naive(expected.data(), src.data());
    EXPECT_EQ(dst, expected);
  }
}

// What is left at both ends of a short row would be as much as the row.
TEST(Execute, ShortRowsAreNotWrittenAroundTheCache) {
  const Kernels& kernels = *KernelsOf(BestSimdLevel());
  const auto writes = [&](const CopyCase& copy) {
    const CopyPlan plan = copy.Plan();
    const Bytes src(copy.SrcReach().bytes);
    Bytes dst(copy.DstReach().bytes + 64);
    char* const off_line = dst.data() + -reinterpret_cast<uintptr_t>(dst.data()) % 64 + 16;
    return StreamRows(plan, off_line, src.data(), kernels);
  };
  const auto rows = [](int64_t bytes) {
    return CopyCase{1, {{20, bytes + 16, bytes + 32}, {bytes, 1, 1}}};
  };
  const auto fill = [](int64_t n) { return CopyCase{4, {{20, 4 * n + 16, 4}, {n, 4, 0}}}; };
  EXPECT_FALSE(writes(rows(383)));
  EXPECT_TRUE(writes(rows(384)));
  EXPECT_FALSE(writes(fill(95)));
  EXPECT_TRUE(writes(fill(96)));
}

TEST(Execute, NoElementsTouchNothing) {
  CopyPlan plan;
  plan.Add({0, 4, 4});
  plan.Add({3, INT64_MAX, INT64_MIN});
  plan.Finish(4);
  Execute(plan, nullptr, nullptr);
}

TEST(SimdLevel, TheBestIsThere) {
  EXPECT_NE(KernelsOf(BestSimdLevel()), nullptr);
  EXPECT_NE(KernelsOf(SimdLevel::kNone), nullptr);
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_GT(AllWays().size(), 4u);
#endif
}

}  // namespace
}  // namespace dovetail::cpu
