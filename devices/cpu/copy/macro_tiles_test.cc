#include "dovetail/devices/cpu/copy/macro_tiles.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using cpu::CopyCase;
using cpu::Loop;
using cpu::Pick;

constexpr int64_t kMemory = 4 << 20;

// A permutation of three to six short dimensions, dense on both sides but for some gaps, with some
// dimensions reversed in src and some repeated there.
CopyCase ShortRows(int64_t element, cpu::Random* random) {
  const int64_t rank = Pick(random, 3, 6), most = rank == 3 ? 40 : rank == 4 ? 20 : 11;
  CopyCase copy{.element = element, .loops = {}};
  for (int64_t i = 0; i < rank; ++i) copy.loops.push_back({Pick(random, 2, most), 0, 0});
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t Loop::* const step : {&Loop::dst_step, &Loop::src_step}) {
    int64_t next = element;
    std::shuffle(order.begin(), order.end(), *random);
    for (const int i : order) {
      if (cpu::OneIn(random, 15)) next += element;
      copy.loops[i].*step = next;
      next *= copy.loops[i].count;
    }
  }
  for (Loop& loop : copy.loops) {
    if (cpu::OneIn(random, 10)) loop.src_step = -loop.src_step;
    if (cpu::OneIn(random, 20)) loop.src_step = 0;
  }
  return copy;
}

class EachElement : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(MacroTiles, EachElement, testing::Values(1, 2, 4));

TEST_P(EachElement, IsWrittenAsByANaiveCopyAndNoOtherByteIsTouched) {
  cpu::Random random(static_cast<unsigned>(GetParam()));
  const GuardedMemory dst_memory(kMemory), src_memory(kMemory);
  int taken = 0;
  for (int round = 0; round < 400; ++round) {
    const CopyCase copy = ShortRows(GetParam(), &random);
    const cpu::Reach to = copy.DstReach(), from = copy.SrcReach();
    if (to.bytes > kMemory || from.bytes > kMemory) continue;
    const bool end = cpu::OneIn(&random, 2);
    char* const dst = dst_memory.At(end, to.bytes);
    char* const src = src_memory.At(end, from.bytes);
    for (int64_t i = 0; i < from.bytes; ++i) src[i] = static_cast<char>(i * 37 / 5);
    std::vector<char> expected(to.bytes, 0x55);
    std::fill(dst, dst + to.bytes, 0x55);
    const cpu::CopyPlan plan = copy.Plan();
    if (!CopyByTiles(plan, dst + to.first + plan.dst_offset, src + from.first + plan.src_offset,
                     *cpu::KernelsOf(BestSimdLevel()))) {
      EXPECT_EQ(std::count(dst, dst + to.bytes, 0x55), to.bytes) << copy.ToString();
      continue;
    }
    ++taken;
    copy.Naive(expected.data() + to.first, src + from.first);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), dst)) << copy.ToString();
  }
  EXPECT_GT(taken, 50);
}

TEST(MacroTiles, OfWideElementsAreNotMade) {
  cpu::Random random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<char> none(1);
    EXPECT_FALSE(CopyByTiles(ShortRows(8, &random).Plan(), none.data(), none.data(),
                             *cpu::KernelsOf(BestSimdLevel())));
  }
}

}  // namespace
}  // namespace dovetail
