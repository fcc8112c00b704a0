#include "dovetail/devices/cpu/copy/cache_sets.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

TEST(CacheSets, RowsAtMultiplesOfAPageCollideOnceTheyAreMoreThanASetHolds) {
  EXPECT_FALSE(Collide(kWays, 4096));
  EXPECT_TRUE(Collide(kWays + 1, 4096));
  EXPECT_TRUE(Collide(kWays + 1, -3 * 4096));
}

TEST(CacheSets, RowsNextToAMultipleOfAPageCollideAsTheyLieInTwoLinesEach) {
  EXPECT_TRUE(Collide(16, 1025 * 4));
  EXPECT_TRUE(Collide(16, 1023 * 4));
  EXPECT_FALSE(Collide(16, 1040 * 4));
  EXPECT_TRUE(Collide(32, 1025 * 2));  // two places, sixteen rows at each
  EXPECT_FALSE(Collide(16, 513 * 4));  // two places, eight rows at each
}

TEST(CacheSets, RowsOfAnyOtherLengthDoNotCollide) {
  for (const int64_t pitch : {1000, 2000, 3000, 4000, 6000, 12000, 63}) {
    EXPECT_FALSE(Collide(64, pitch)) << pitch;
  }
}

TEST(CacheSets, SquaresAliasWhereBothSidesHaveOneMoreElementThanAPowerOfTwo) {
  const std::vector<char> bytes(2 * 4096);
  const char* const at = bytes.data();
  EXPECT_TRUE(Alias(at, 1025 * 4, at, 1025 * 4, 16));
  EXPECT_TRUE(Alias(at, 1025 * 4, at, 2049 * 4, 16));
  EXPECT_TRUE(Alias(at + 4096, 1025 * 4, at, 1025 * 4, 16));
  EXPECT_TRUE(Alias(at, 513 * 1, at + 512, 513 * 1, 64));
  EXPECT_FALSE(Alias(at + 128, 1025 * 4, at, 1025 * 4, 16)) << "lie elsewhere in the page";
  EXPECT_FALSE(Alias(at, 1026 * 4, at, 1025 * 4, 16)) << "differ from square to square";
  EXPECT_FALSE(Alias(at, 1024 * 4, at, 1025 * 4, 16)) << "differ from square to square";
  EXPECT_FALSE(Alias(at, 257 * 8, at, 257 * 8, 8)) << "four rows of eight at a place";
}

}  // namespace
}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
