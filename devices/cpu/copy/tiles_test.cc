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

// Whether tiles took the copy; if so, they wrote what a naive copy writes, and no other byte.
bool IsCopied(const CopyCase& copy, bool streams, bool at_end) {
  static const GuardedMemory dst_memory(kMemory), src_memory(kMemory);
  const cpu::Reach to = copy.DstReach(), from = copy.SrcReach();
  if (to.bytes > kMemory || from.bytes > kMemory) return false;
  char* const dst = dst_memory.At(at_end, to.bytes);
  char* const src = src_memory.At(at_end, from.bytes);
  for (int64_t i = 0; i < from.bytes; ++i) src[i] = static_cast<char>(i * 37 / 5);
  std::vector<char> expected(to.bytes, 0x55);
  std::fill(dst, dst + to.bytes, 0x55);
  const cpu::CopyPlan plan = copy.Plan();
  const bool is_taken =
      CopyByTiles(plan, dst + to.first + plan.dst_offset, src + from.first + plan.src_offset,
                  *cpu::KernelsOf(BestSimdLevel()), streams);
  if (is_taken) copy.Naive(expected.data() + to.first, src + from.first);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), dst)) << copy.ToString();
  return is_taken;
}

TEST_P(Streaming, IsWrittenAsByANaiveCopyAndNoOtherByteIsTouched) {
  cpu::Random random(GetParam());
  int taken = 0;
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const CopyCase copy = cpu::ShortRunsCase(&random);
    if (IsCopied(copy, GetParam(), cpu::OneIn(&random, 2))) ++taken;
  }
  EXPECT_GT(taken, 50);
}

// The first line of a run belongs to what lies before it, too.
TEST_P(Streaming, ARunWhosePartsAreShorterThanALineIsWrittenWhole) {
  const CopyCase copy{1, {{28, 1998 * 32, 1}, {32, 1998, 28}, {54, 37, 896}, {37, 1, 54 * 896}}};
  EXPECT_TRUE(IsCopied(copy, GetParam(), /*at_end=*/false));
  EXPECT_TRUE(IsCopied(copy, GetParam(), /*at_end=*/true));
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
