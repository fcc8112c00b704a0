#include "dovetail/core/ipc/slot_table.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint64_t kGranules = 1000;

// A table in memory of this process. Its participants are numbers.
class SlotTableTest : public testing::Test {
 protected:
  using Slot = SlotTable::Slot;

  // As Segment does it.
  std::optional<Slot> Allocate(int me, uint64_t count) {
    if (const auto slot = table_.Take(me, count)) return slot;
    for (int pass = 0; pass < 2; ++pass) {
      if (const auto slot = table_.Carve(me, count)) return slot;
      if (const auto slot = table_.TakeAndSplit(me, count)) return slot;
      table_.Merge();
    }
    return std::nullopt;
  }
  uint64_t GenerationOf(Slot slot) { return table_.word(slot).generation(); }

  // Slots follow each other without gaps up to carved(), and none has size 0.
  void CheckTiles() {
    Slot next = 0;
    table_.ForEach([&](Slot slot) {
      EXPECT_EQ(slot, next);
      EXPECT_NE(table_.size(slot), 0u);
      EXPECT_NE(table_.word(slot).state(), SlotState::kNone) << slot;
      next = slot + table_.size(slot);
    });
    EXPECT_EQ(next, table_.carved());
  }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(SlotTable::BytesFor(kGranules) / 8 + 8);
  // Headers lie on cache lines of their own.
  SlotTable table_{
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) & ~63), kGranules};
};

TEST_F(SlotTableTest, ASlotIsHeldUntilTheLastParticipantDropsIt) {
  const Slot slot = *Allocate(0, 3);
  const uint64_t generation = GenerationOf(slot);
  EXPECT_TRUE(table_.Hold(255, slot, generation));
  EXPECT_FALSE(table_.Drop(0, slot));
  EXPECT_TRUE(table_.Hold(0, slot, generation));
  EXPECT_FALSE(table_.Drop(255, slot));
  EXPECT_TRUE(table_.Drop(0, slot));
  EXPECT_FALSE(table_.Hold(0, slot, generation)) << "it is free";
  EXPECT_FALSE(table_.HasHolders(slot));
}

TEST_F(SlotTableTest, AnOlderNameOfASlotThatIsUsedAgainIsStale) {
  const Slot slot = *Allocate(0, 3);
  const uint64_t generation = GenerationOf(slot);
  table_.Drop(0, slot);
  ASSERT_EQ(*Allocate(1, 3), slot);
  EXPECT_FALSE(table_.Hold(2, slot, generation));
  EXPECT_TRUE(table_.Hold(2, slot, generation + 1));
  EXPECT_EQ(table_.Holders(slot), (Participants{0b110, 0, 0, 0}));
}

TEST_F(SlotTableTest, ARenewedSlotIsHeldOnByThoseWhoHaveItAndOpenedByNobody) {
  const Slot slot = *Allocate(0, 1);
  const uint64_t generation = GenerationOf(slot);
  EXPECT_TRUE(table_.Hold(1, slot, generation));
  table_.Renew(slot);
  EXPECT_FALSE(table_.Hold(2, slot, generation));
  EXPECT_FALSE(table_.Drop(0, slot));
  EXPECT_TRUE(table_.Drop(1, slot));
}

TEST_F(SlotTableTest, NamesOfWhatIsNoSlotAreRefused) {
  const Slot slot = *Allocate(0, 8);
  for (uint64_t generation = 0; generation < 4; ++generation) {
    EXPECT_FALSE(table_.Hold(1, slot + 1, generation)) << "inside";
    EXPECT_FALSE(table_.Hold(1, slot + 8, generation)) << "behind the last";
    EXPECT_FALSE(table_.Hold(1, kGranules, generation));
    EXPECT_FALSE(table_.Hold(1, ~Slot{0}, generation));
  }
  EXPECT_FALSE(table_.HasHolders(slot, /*except=*/0));
}

TEST_F(SlotTableTest, FreeSlotsBecomeOneThatIsLarger) {
  std::vector<Slot> slots;
  while (const auto slot = Allocate(0, 10)) slots.push_back(*slot);
  ASSERT_EQ(slots.size(), 100u);
  EXPECT_FALSE(Allocate(0, 1));
  for (const Slot slot : slots) table_.Drop(0, slot);
  const auto all = Allocate(0, kGranules);
  ASSERT_TRUE(all);
  EXPECT_EQ(table_.size(*all), kGranules);
  table_.Drop(0, *all);
  EXPECT_TRUE(Allocate(0, 1));
  EXPECT_TRUE(Allocate(0, 900)) << "the large one is split";
  CheckTiles();
}

TEST_F(SlotTableTest, WhatEndedParticipantsHeldIsFreedAndNothingElse) {
  const Slot a = *Allocate(7, 2), b = *Allocate(7, 3), c = *Allocate(8, 4);
  EXPECT_TRUE(table_.Hold(8, b, GenerationOf(b)));
  EXPECT_EQ(table_.Sweep({uint64_t{1} << 7, 0, 0, 0}), 2u);
  EXPECT_EQ(table_.word(a).state(), SlotState::kFree);
  EXPECT_EQ(table_.Holders(b), (Participants{uint64_t{1} << 8, 0, 0, 0}));
  EXPECT_TRUE(table_.HasHolders(c));
  EXPECT_EQ(*table_.Take(1, 2), a);
}

// Whatever other processes write to the table, no walk leaves it or goes on for ever.
TEST_F(SlotTableTest, DamageIsNeitherReadOutOfBoundsNorEndless) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 5; ++i) Allocate(0, 1 + random() % 20);
    for (int i = 0; i < 20; ++i) memory_[random() % memory_.size()] = random() >> random() % 64;
    for (uint64_t count : {1, 7, 50, 1000}) {
      if (const auto slot = Allocate(0, count)) {
        EXPECT_LE(*slot + table_.size(*slot), kGranules);
      }
    }
    for (Slot slot = 0; slot < kGranules; slot += 13) {
      if (table_.Hold(1, slot, GenerationOf(slot))) table_.Drop(1, slot);
    }
    table_.Sweep({1, 0, 0, 0});
    table_.Merge();
    if (round % 20 == 0) std::fill(memory_.begin(), memory_.end(), 0);
  }
}

TEST_F(SlotTableTest, RandomCallsGiveNoMemoryTwice) {
  std::mt19937_64 random(2);
  std::map<Slot, std::set<int>> holders;   // what should be
  std::vector<uint64_t> owner(kGranules);  // by granule: its slot + 1
  for (int i = 0; i < 100'000; ++i) {
    const int me = static_cast<int>(random() % 4 * 85);
    if (const uint64_t what = random() % 10; what < 4) {
      const uint64_t count = 1 + random() % (random() % 20 == 0 ? 300 : 30);
      const auto slot = Allocate(me, count);
      if (!slot) continue;
      ASSERT_GE(table_.size(*slot), count);
      for (uint64_t g = *slot; g < *slot + table_.size(*slot); ++g) {
        ASSERT_EQ(owner[g], 0u) << g;
        owner[g] = *slot + 1;
      }
      holders[*slot] = {me};
    } else if (holders.empty()) {
      continue;
    } else if (auto held =
                   std::next(holders.begin(), static_cast<int64_t>(random() % holders.size()));
               what < 6) {
      ASSERT_TRUE(table_.Hold(me, held->first, GenerationOf(held->first)));
      held->second.insert(me);
    } else {
      const int other = *held->second.begin();
      held->second.erase(other);
      const uint64_t size = table_.size(held->first);
      ASSERT_EQ(table_.Drop(other, held->first), held->second.empty());
      if (!held->second.empty()) continue;
      for (uint64_t g = held->first; g < held->first + size; ++g) owner[g] = 0;
      holders.erase(held);
    }
    if (i % 1000 == 0) CheckTiles();
  }
}

// Threads stand for processes, each with slots of its own and those that the others offer.
TEST_F(SlotTableTest, ParticipantsThatRaceNeitherLoseNorShareASlotThatTheyOwn) {
  constexpr int kThreads = 4, kRounds = 60'000, kOffers = 8;
  struct Offer {
    std::atomic<Slot> slot;
    std::atomic<uint64_t> generation;
  };
  std::vector<Offer> offers(kOffers);
  std::vector<std::atomic<int>> owners(kGranules);
  for (int i = 0; i < 40; ++i) *table_.Carve(9, 1 + i % 3);
  table_.Sweep({uint64_t{1} << 9, 0, 0, 0});
  std::vector<std::thread> threads;
  std::atomic<int> opened = 0;
  for (int me = 0; me < kThreads; ++me) {
    threads.emplace_back([&, me] {
      std::mt19937_64 random(static_cast<uint64_t>(me));
      for (int i = 0; i < kRounds; ++i) {
        Offer& offer = offers[random() % kOffers];
        if (i % 2 == 0) {
          const auto slot = table_.Take(me, 1 + random() % 3);
          if (!slot) continue;
          EXPECT_EQ(owners[*slot].exchange(me + 1), 0) << "another has it";
          offer.slot = *slot;
          offer.generation = table_.word(*slot).generation();
          owners[*slot] = 0;
          table_.Drop(me, *slot);
        } else if (const Slot slot = offer.slot; table_.Hold(me, slot, offer.generation)) {
          ++opened;
          const uint64_t generation = table_.word(slot).generation();
          std::this_thread::yield();
          EXPECT_EQ(table_.word(slot).generation(), generation) << "freed while it was held";
          table_.Drop(me, slot);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  table_.ForEach([&](Slot slot) {
    EXPECT_FALSE(table_.HasHolders(slot));
    EXPECT_EQ(table_.word(slot).state(), SlotState::kFree) << slot;
  });
  EXPECT_GT(opened.load(), 0);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
