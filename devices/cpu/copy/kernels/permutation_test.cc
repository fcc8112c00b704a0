#include "dovetail/devices/cpu/copy/kernels/permutation.h"

#include <cstring>
#include <random>

#include "gtest/gtest.h"

namespace dovetail::cpu {
namespace {

// What a step writes in the bytes of its vectors, byte by byte by the tables.
template <int64_t kBytes, int kPerTable>
void RunStep(const Permutation<kBytes, kPerTable>& p, char* dst, const char* src) {
  for (int64_t vector = 0; vector < p.vectors(); ++vector) {
    for (int64_t b = 0; b < kBytes; ++b) {
      for (int64_t t = 0; t < p.tables(); ++t) {
        const auto index = static_cast<uint8_t>(p.table(vector, t)[b]);
        if (index >= 0x80) continue;
        const int64_t window = t * kPerTable + index / kBytes;
        ASSERT_LT(window, p.windows());
        dst[vector * p.vector_step() + b] = src[p.offset(window) + index % kBytes];
      }
    }
  }
}

template <int64_t kBytes, int kPerTable>
bool Check(int64_t unit, const Loop& group, const Loop& along, const Loop& planes) {
  Permutation<kBytes, kPerTable> p;
  if (!p.Make(unit, group, along, planes)) return false;
  constexpr int64_t kReach = 1 << 16;
  static char src[2 * kReach], dst[kReach], expected[kReach];
  for (int64_t i = 0; i < 2 * kReach; ++i) src[i] = static_cast<char>(i * 131 >> 5);
  std::memset(dst, 0, sizeof dst);
  std::memset(expected, 0, sizeof expected);
  RunStep(p, dst, src + kReach);
  for (int64_t k = 0; k < planes.count; ++k) {
    for (int64_t i = 0; i < p.at_once(); ++i) {
      for (int64_t e = 0; e < group.count; ++e) {
        std::memcpy(expected + k * planes.dst_step + i * along.dst_step + e * unit,
                    src + kReach + k * planes.src_step + i * along.src_step + e * group.src_step,
                    unit);
      }
    }
  }
  EXPECT_EQ(std::memcmp(dst, expected, sizeof dst), 0)
      << kBytes << " bytes, unit " << unit << ", group of " << group.count << " by "
      << group.src_step << ", along by " << along.dst_step << " and " << along.src_step << ", "
      << planes.count << " planes";
  return true;
}

TEST(Permutation, StepsMoveEachByteAsTheLoopsDo) {
  std::mt19937 random(1);
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % (to - from + 1));
  };
  int made = 0;
  for (int round = 0; round < 3000; ++round) {
    const int64_t unit = int64_t{1} << pick(0, 4);
    Loop group{pick(1, 4), unit, pick(-12, 12) * unit};
    if (pick(0, 3) == 0) group.src_step = 4096;
    const Loop along{pick(1, 100), group.count * unit + (pick(0, 4) == 0 ? unit : 0),
                     pick(-40, 40) * (pick(0, 1) == 0 ? unit : 1)};
    Loop planes = kNoPlanes;
    if (group.count == 1 && pick(0, 1) == 0) planes = {pick(2, 4), 4096, unit};
    made += Check<64, 2>(unit, group, along, planes);
    made += Check<16, 1>(unit, group, along, planes);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(made, 1000);
}

TEST(Permutation, AStepIsAsLongAsIsCheapest) {
  Permutation<64, 2> bgr;
  ASSERT_TRUE(bgr.Make(1, {3, 1, -1}, {1000, 3, 3}, kNoPlanes));
  EXPECT_EQ(bgr.at_once(), 21);
  EXPECT_EQ(bgr.windows(), 1);
  Permutation<64, 2> to_planes;
  ASSERT_TRUE(to_planes.Make(1, {1, 1, 1}, {1000, 1, 3}, {3, 1000, 1}));
  EXPECT_EQ(to_planes.at_once(), 64);
  EXPECT_EQ(to_planes.windows(), 3);
  EXPECT_EQ(to_planes.vectors(), 3);
  Permutation<16, 1> from_planes;
  ASSERT_TRUE(from_planes.Make(1, {4, 1, 5000}, {1000, 4, 1}, kNoPlanes));
  EXPECT_EQ(from_planes.at_once(), 16);
  EXPECT_EQ(from_planes.vectors(), 4);
}

TEST(Permutation, IsNotMadeWhereElementsAreCheaper) {
  Permutation<16, 1> p;
  EXPECT_FALSE(p.Make(8, {1, 8, 8}, {1000, 8, 24}, kNoPlanes)) << "a window for each element";
  EXPECT_FALSE(p.Make(8, {3, 8, 8000}, {1000, 24, 8}, kNoPlanes)) << "wider than a vector";
  EXPECT_TRUE(p.Make(1, {1, 1, 1}, {1000, 1, 2}, kNoPlanes));
}

TEST(Permutation, StepsStayWithinTheBytesGiven) {
  Permutation<64, 2> p;  // RGB of RGBA: 16 pixels in one window
  ASSERT_TRUE(p.Make(1, {3, 1, 1}, {100, 3, 4}, kNoPlanes));
  const char src[400] = {};
  const int64_t steps = 100 / p.at_once();
  const int64_t readable = p.ReadableSteps(src, steps, src, src + 399);
  EXPECT_LE((readable - 1) * p.at_once() * 4 + p.windows() * 64, 399);
  EXPECT_LE((p.WritableSteps(steps) - 1) * p.at_once() * 3 + 64, 300);
  EXPECT_EQ(p.ReadableSteps(src, steps, src, src + 50), 0);
}

}  // namespace
}  // namespace dovetail::cpu
