#include "dovetail/devices/cpu/copy/kernels/cache_sets.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

TEST(CacheSets, RowsAtMultiplesOfAPageCollideOnceTheyAreMoreThanASetHolds) {
  EXPECT_FALSE(Collide(kWays, 4096));
  EXPECT_FALSE(Collide(kWays, 8 * 4096));
  EXPECT_TRUE(Collide(kWays + 1, 4096));
  EXPECT_TRUE(Collide(kWays + 1, -3 * 4096));
}

TEST(CacheSets, RowsNextToAMultipleOfAPageCollideUnlessTheySpreadOverMoreSets) {
  EXPECT_TRUE(Collide(64, 1025 * 4));
  EXPECT_TRUE(Collide(64, 1023 * 4));
  EXPECT_FALSE(Collide(16, 1025 * 4));
  EXPECT_FALSE(Collide(64, 1032 * 4));
}

TEST(CacheSets, RowsNextToAHalfOrAQuarterOfAPageTakeTwoOrFourSetsByTurns) {
  for (const int64_t pitch : {2048, 2049, 2047, 3 * 2048 + 1}) {
    EXPECT_TRUE(Collide(2 * kWays * 2, pitch)) << pitch;
    EXPECT_FALSE(Collide(2 * kWays, pitch)) << pitch;
  }
  EXPECT_TRUE(Collide(128, 1025));
  EXPECT_FALSE(Collide(4 * kWays, 1025));
  EXPECT_FALSE(Collide(64, 2048 + 64));
}

TEST(CacheSets, RowsOffTheLinesTakeTwoOfThemEach) {
  EXPECT_FALSE(Collide(16, 1025 * 4));
  EXPECT_TRUE(RowsCollide(16, 1025 * 4));
  EXPECT_FALSE(RowsCollide(kWays, 4096));
}

TEST(CacheSets, RowsOfAnyOtherLengthDoNotCollide) {
  for (const int64_t pitch : {1000, 2000, 3000, 4000, 6000, 12000, 63}) {
    EXPECT_FALSE(Collide(64, pitch)) << pitch;
  }
}

TEST(CacheSets, SquaresAliasWhereBothSidesHaveOneMoreElementThanAPowerOfTwo) {
  const std::vector<char> bytes(2 * 4096);
  const char* const at = bytes.data();
  EXPECT_TRUE(Alias<16>(at, 1025 * 4, at, 1025 * 4));
  EXPECT_TRUE(Alias<16>(at, 1025 * 4, at, 2049 * 4));
  EXPECT_TRUE(Alias<16>(at + 4096, 1025 * 4, at, 1025 * 4));
  EXPECT_TRUE(Alias<64>(at, 513 * 1, at + 512, 513 * 1));
  EXPECT_FALSE(Alias<16>(at + 128, 1025 * 4, at, 1025 * 4)) << "different offsets in the page";
  EXPECT_FALSE(Alias<16>(at, 1026 * 4, at, 1025 * 4)) << "differ from square to square";
  EXPECT_FALSE(Alias<16>(at, 1024 * 4, at, 1025 * 4)) << "differ from square to square";
  EXPECT_FALSE(Alias<8>(at, 257 * 8, at, 257 * 8)) << "only four of eight rows at one offset";
}

}  // namespace
}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
