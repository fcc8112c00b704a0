// Threads stand for processes. Some take, hold and drop slots, while others split, merge and sweep.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "dovetail/core/ipc/slot_table.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint64_t kGranules = 200;
constexpr int kThreads = 4, kRounds = 40'000, kOffers = 8;

class SlotTableRace : public testing::Test {
 protected:
  using Slot = SlotTable::Slot;
  struct Offer {
    std::atomic<Slot> slot;
    std::atomic<uint64_t> generation;
  };

  // Marks the granules of a slot that this participant alone can have. They must be nobody's.
  void Own(int me, Slot slot, uint64_t count) {
    for (uint64_t g = slot; g < slot + count; ++g) {
      EXPECT_EQ(owners_[g].exchange(me + 1), 0) << "granule " << g << " is in two slots";
    }
  }
  void Disown(int me, Slot slot, uint64_t count) {
    for (uint64_t g = slot; g < slot + count; ++g) {
      EXPECT_EQ(owners_[g].exchange(0), me + 1) << "granule " << g << " was taken";
    }
  }

  std::optional<Slot> Allocate(int me, uint64_t count, bool merges) {
    if (const auto slot = table_.Take(me, count)) return slot;
    const std::lock_guard lock(structure_);
    if (const auto slot = table_.Carve(me, count)) return slot;
    if (merges) {
      table_.Merge();
      table_.Sweep({});
    }
    return table_.TakeAndSplit(me, count);
  }

  void Work(int me) {
    std::mt19937_64 random(static_cast<uint64_t>(me));
    for (int i = 0; i < kRounds; ++i) {
      Offer& offer = offers_[random() % kOffers];
      if (i % 2 == 0) {
        const uint64_t count = 1 + random() % (random() % 4 == 0 ? 60 : 6);
        const auto slot = Allocate(me, count, random() % 2 == 0);
        if (!slot) continue;
        ++taken_;
        EXPECT_GE(table_.size(*slot), count);
        Own(me, *slot, count);
        offer.slot = *slot;
        offer.generation = table_.word(*slot).generation();
        if (random() % 8 == 0) std::this_thread::yield();
        Disown(me, *slot, count);
        table_.Drop(me, *slot);
      } else if (const Slot slot = offer.slot; table_.Hold(me, slot, offer.generation)) {
        ++held_;
        const uint64_t generation = table_.word(slot).generation(), size = table_.size(slot);
        if (random() % 8 == 0) std::this_thread::yield();
        EXPECT_EQ(table_.word(slot).generation(), generation) << "freed while it was held";
        EXPECT_EQ(table_.size(slot), size) << "split or merged while it was held";
        table_.Drop(me, slot);
      }
    }
  }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(SlotTable::BytesFor(kGranules) / 8 + 8);
  SlotTable table_{
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) & ~63), kGranules};
  std::mutex structure_;
  std::vector<Offer> offers_ = std::vector<Offer>(kOffers);
  std::vector<std::atomic<int>> owners_ = std::vector<std::atomic<int>>(kGranules);
  std::atomic<uint64_t> taken_ = 0, held_ = 0;
};

TEST_F(SlotTableRace, NoMemoryIsInTwoSlotsAndNoSlotChangesWhileItIsHeld) {
  std::vector<std::thread> threads;
  for (int me = 0; me < kThreads; ++me) threads.emplace_back([this, me] { Work(me * 80); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken_, uint64_t{kRounds});
  EXPECT_GT(held_, 0u);
  table_.ForEach([&](Slot slot) {
    EXPECT_FALSE(table_.HasHolders(slot)) << slot;
    EXPECT_EQ(table_.word(slot).state(), SlotState::kFree) << slot;
  });
  table_.Merge();
  EXPECT_EQ(table_.carved(), 0u);
  EXPECT_TRUE(table_.Carve(1, kGranules));
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
