// A tiled copy has no bank conflicts in shared memory. There are 32 banks of four bytes; each
// serves one word at a time to the threads of one access (32 threads of up to four bytes each, 16
// of eight, 8 of sixteen). Source: CUDA C++ Programming Guide, shared memory.

#include "dovetail/devices/gpu/kernels/tile.h"

#include <map>
#include <set>

#include "dovetail/devices/gpu/kernels/cast_tile.h"
#include "dovetail/devices/gpu/kernels/shifted_tile.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

template <typename Tile>
constexpr int kTogether = Tile::kWordBytes <= 4 ? 32 : 128 / Tile::kWordBytes;

// Whether no bank serves two different words.
template <typename Tile, typename SlotOf>
bool MeetsEachBankOnce(SlotOf slot_of) {
  for (uint32_t first = 0; first < kBlockThreads; first += kTogether<Tile>) {
    std::map<uint32_t, std::set<uint32_t>> words;  // by bank
    for (uint32_t thread = first; thread < first + kTogether<Tile>; ++thread) {
      const uint32_t slot = slot_of(thread);
      for (int byte = 0; byte < Tile::kWordBytes; byte += 4) {
        const uint32_t word = (slot + byte) / 4;
        words[word % 32].insert(word);
      }
    }
    for (const auto& [bank, distinct] : words) {
      if (distinct.size() > 1) return false;
    }
  }
  return true;
}

// A tile of so many rows and columns of words has room for each.
template <typename Tile>
void ExpectRoomForEveryWord(uint32_t rows, uint32_t columns) {
  std::set<uint32_t> slots;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t slot = Tile::Slot(row, column);
      EXPECT_LE(slot + Tile::kWordBytes, uint32_t{Tile::kSharedBytes});
      EXPECT_TRUE(slots.insert(slot).second);
    }
  }
}

template <typename Tile>
class Tiles : public testing::Test {};
using Kinds =
    testing::Types<TileCopy<1, 1>, TileCopy<1, 4>, TileCopy<2, 1>, TileCopy<2, 2>, TileCopy<4, 1>,
                   TileCopy<8, 1>, TileCopy<16, 1>, TileCast<OfPair<float16, float32>>>;
TYPED_TEST_SUITE(Tiles, Kinds);

TYPED_TEST(Tiles, NeighbouringThreadsMeetDifferentBanksWhileTheyLoad) {
  constexpr int kRun = TypeParam::kAlongDst / TypeParam::kColumns;
  for (int j = 0; j < kRun; ++j) {
    EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([&](uint32_t thread) {
      return TypeParam::Slot(thread % TypeParam::kLoadWidth * kRun + j,
                             thread / TypeParam::kLoadWidth);
    }));
  }
}

TYPED_TEST(Tiles, NeighbouringThreadsMeetDifferentBanksWhileTheyStore) {
  EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([](uint32_t thread) {
    return TypeParam::Slot(thread / TypeParam::kColumns, thread % TypeParam::kColumns);
  }));
}

TYPED_TEST(Tiles, EveryWordHasAPlaceOfItsOwnInTheTile) {
  ExpectRoomForEveryWord<TypeParam>(TypeParam::kAlongSrc, TypeParam::kColumns);
}

// An element of one or two bytes is part of a word.
template <typename Tile>
class NarrowCastTiles : public testing::Test {};
using NarrowCasts =
    testing::Types<TileCast<OfPair<float32, bfloat16>>, TileCast<OfPair<float32, float8_e5m2>>>;
TYPED_TEST_SUITE(NarrowCastTiles, NarrowCasts);

TYPED_TEST(NarrowCastTiles, NeighbouringThreadsMeetDifferentBanks) {
  for (uint32_t element = 0; element < TypeParam::kAlongDst; ++element) {
    EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([&](uint32_t thread) {
      return TypeParam::Slot(thread % TypeParam::kLoadWidth, element / TypeParam::kRun);
    }));
  }
  EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([](uint32_t thread) {
    return TypeParam::Slot(thread / TypeParam::kColumns, thread % TypeParam::kColumns);
  }));
}

TYPED_TEST(NarrowCastTiles, EveryWordHasAPlaceOfItsOwnInTheTile) {
  ExpectRoomForEveryWord<TypeParam>(TypeParam::kAlongSrc, TypeParam::kColumns);
}

template <typename Tile>
class ShiftedTiles : public testing::Test {};
using ShiftedKinds = testing::Types<ShiftedTileCopy<1>, ShiftedTileCopy<2>>;
TYPED_TEST_SUITE(ShiftedTiles, ShiftedKinds);

TYPED_TEST(ShiftedTiles, NeighbouringThreadsMeetDifferentBanks) {
  for (int j = 0; j < TypeParam::kRun; ++j) {
    EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([&](uint32_t thread) {
      return TypeParam::Slot(thread % TypeParam::kLoadWidth * TypeParam::kRun + j,
                             thread / TypeParam::kLoadWidth);
    }));
  }
  for (uint32_t next = 0; next < 2; ++next) {
    EXPECT_TRUE(MeetsEachBankOnce<TypeParam>([&](uint32_t thread) {
      return TypeParam::Slot(thread / TypeParam::kColumns, thread % TypeParam::kColumns + next);
    }));
  }
}

TYPED_TEST(ShiftedTiles, EveryWordHasAPlaceOfItsOwnInTheTile) {
  ExpectRoomForEveryWord<TypeParam>(TypeParam::kAlongSrc, TypeParam::kPitch);
}

}  // namespace
}  // namespace dovetail::gpu
