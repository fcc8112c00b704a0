#include "dovetail/devices/cpu/copy/tiles.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using cpu::CopyCase;

constexpr int64_t kMemory = 4 << 20;

class Streaming : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Tiles, Streaming, testing::Bool());

TEST_P(Streaming, IsWrittenAsByANaiveCopyAndNoOtherByteIsTouched) {
  cpu::Random random(GetParam());
  const GuardedMemory dst_memory(kMemory), src_memory(kMemory);
  int taken = 0;
  for (int round = 0; round < 400; ++round) {
    const CopyCase copy = cpu::ShortRunsCase(&random);
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
                     *cpu::KernelsOf(BestSimdLevel()), GetParam())) {
      EXPECT_EQ(std::count(dst, dst + to.bytes, 0x55), to.bytes) << copy.ToString();
      continue;
    }
    ++taken;
    copy.Naive(expected.data() + to.first, src + from.first);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), dst)) << copy.ToString();
  }
  EXPECT_GT(taken, 50);
}

TEST(Tiles, OfWideElementsAreNotMadeInTheCache) {
  cpu::Random random(1);
  std::vector<char> none(1);
  for (int round = 0; round < 200; ++round) {
    const CopyCase copy = cpu::ShortRunsCase(&random);
    if (copy.element < 8) continue;
    EXPECT_FALSE(CopyByTiles(copy.Plan(), none.data(), none.data(),
                             *cpu::KernelsOf(BestSimdLevel()), /*streams=*/false));
  }
}

}  // namespace
}  // namespace dovetail
