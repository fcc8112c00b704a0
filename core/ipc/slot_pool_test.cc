#include "dovetail/core/ipc/slot_pool.h"

#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/testing/child_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

constexpr size_t kKiB = 1 << 10;

std::shared_ptr<SlotPool> MakePool(const PoolOptions& options) {
  absl::StatusOr<std::shared_ptr<SlotPool>> pool = SlotPool::Create(options);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

// Allocates until there is no room. Returns what it got.
std::vector<SlotHold> Exhaust(SlotPool& pool, size_t nbytes) {
  std::vector<SlotHold> all;
  while (true) {
    absl::StatusOr<SlotHold> slot = pool.Allocate(nbytes);
    if (!slot.ok()) {
      EXPECT_EQ(slot.status().code(), absl::StatusCode::kResourceExhausted) << slot.status();
      return all;
    }
    all.push_back(*std::move(slot));
  }
}

TEST(SlotPoolTest, OptionsThatMakeNoPoolAreErrors) {
  EXPECT_EQ(SlotPool::Create({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      SlotPool::Create({.nbytes = 4096, .most_bytes = 8192, .anonymous = true}).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SlotPool::Create({.nbytes = SIZE_MAX}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SlotPoolTest, APoolGrowsUpToItsLimit) {
  const auto pool = MakePool({.nbytes = 64 * kKiB, .most_bytes = 256 * kKiB});
  EXPECT_EQ(pool->segment_count(), 1);
  EXPECT_EQ(pool->most_bytes(), 256 * kKiB);
  std::vector<SlotHold> all = Exhaust(*pool, 16 * kKiB);
  EXPECT_EQ(all.size(), 16u);
  EXPECT_EQ(pool->segment_count(), 4);
  EXPECT_EQ(pool->Stats()->capacity, 256 * kKiB);
  EXPECT_EQ(pool->Stats()->used, 256 * kKiB);
  EXPECT_EQ(pool->reserved_bytes(), 256 * kKiB);
  all.pop_back();
  EXPECT_TRUE(pool->Allocate(16 * kKiB).ok());
  all.clear();
  EXPECT_EQ(pool->Stats()->used, 0u);
  EXPECT_EQ(pool->segment_count(), 4);
}

TEST(SlotPoolTest, AnAllocationLargerThanTheFirstSegmentGetsOneOfItsSize) {
  const auto pool = MakePool({.nbytes = 16 * kKiB, .most_bytes = 256 * kKiB});
  EXPECT_TRUE(pool->Allocate(200 * kKiB).ok());
  EXPECT_EQ(pool->segment_count(), 2);
  EXPECT_FALSE(pool->Allocate(241 * kKiB).ok());
  EXPECT_FALSE(pool->Allocate(SIZE_MAX).ok());
}

TEST(SlotPoolTest, OfAPoolWhoseMakerWasKilledWhatIsMappedIsKnown) {
  ChildProcess maker([](Channel& parent) {
    const auto pool = *SlotPool::Create({.nbytes = kKiB, .most_bytes = 64 * kKiB});
    std::vector<SlotHold> all;
    for (int i = 0; i < 4; ++i) all.push_back(*pool->Allocate(kKiB));
    parent.Send(pool->name());
    parent.Send(all.back().name());
    pause();
  });
  const auto pool = *SlotPool::Open(maker.Receive<SegmentName>());
  const SlotHold last = *SlotHold::Open(maker.Receive<SlotName>());
  maker.Kill();
  EXPECT_TRUE(pool->Contains(*last.segment()));
  EXPECT_EQ(pool->Stats()->segments, 2);
  UnlinkLeftBehind();
}

TEST(SlotPoolTest, ThreadsThatGrowItAtOnceKeepToTheLimit) {
  for (int round = 0; round < 20; ++round) {
    const auto pool = MakePool({.nbytes = 16 * kKiB, .most_bytes = 64 * kKiB});
    std::vector<std::thread> threads;
    std::atomic<size_t> count = 0;
    std::barrier meet(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        meet.arrive_and_wait();
        const std::vector<SlotHold> all = Exhaust(*pool, 4 * kKiB);
        count += all.size();
        meet.arrive_and_wait();  // holds them until no thread gets more
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 16u);
    EXPECT_EQ(pool->Stats()->capacity, 64 * kKiB);
  }
}

TEST(SlotPoolTest, AFullPoolNamesItsHolders) {
  ChildProcess child([](Channel& parent) {
    const std::shared_ptr<SlotPool> pool = *SlotPool::Open(parent.Receive<SegmentName>());
    const SlotHold slot = *pool->Allocate(40 * kKiB);
    parent.Send(true);
    pause();
  });
  const auto pool = MakePool({.nbytes = 64 * kKiB});
  child.Send(pool->name());
  child.Receive<bool>();
  const SlotHold own = *pool->Allocate(12 * kKiB);
  const std::string text(pool->Allocate(32 * kKiB).status().message());
  EXPECT_THAT(text, HasSubstr("no room for 32768 bytes: 53248 of 65536 bytes are held"));
  EXPECT_THAT(text,
              HasSubstr("process " + std::to_string(child.pid()) + " holds 40960 bytes in 1"));
  EXPECT_THAT(text, HasSubstr("this process holds 12288 bytes"));
  child.Kill();
  EXPECT_TRUE(pool->Allocate(32 * kKiB).ok()) << "a killed process holds nothing";
}

TEST(SlotPoolTest, WhoWaitsGetsWhatAnotherProcessFrees) {
  ChildProcess child([](Channel& parent) {
    const std::shared_ptr<SlotPool> pool = *SlotPool::Open(parent.Receive<SegmentName>());
    SlotHold slot = *pool->Allocate(64 * kKiB);
    parent.Send(true);
    parent.Receive<char>();
    usleep(20'000);
    slot = SlotHold();
    pause();
  });
  const auto pool = MakePool({.nbytes = 64 * kKiB});
  child.Send(pool->name());
  child.Receive<bool>();
  EXPECT_FALSE(pool->Allocate(1).ok());
  const absl::Status late = pool->Allocate(1, {.timeout = absl::Milliseconds(30)}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kResourceExhausted);
  child.Send('x');
  EXPECT_TRUE(pool->Allocate(64 * kKiB, {.timeout = absl::InfiniteDuration()}).ok());
}

TEST(SlotPoolTest, WhoWaitsGetsWhatAKilledProcessHad) {
  ChildProcess child([](Channel& parent) {
    const std::shared_ptr<SlotPool> pool = *SlotPool::Open(parent.Receive<SegmentName>());
    const SlotHold slot = *pool->Allocate(64 * kKiB);
    parent.Send(true);
    pause();
  });
  const auto pool = MakePool({.nbytes = 64 * kKiB});
  child.Send(pool->name());
  child.Receive<bool>();
  std::thread killer([&] {
    usleep(20'000);
    child.Kill();
  });
  EXPECT_TRUE(pool->Allocate(64 * kKiB, {.timeout = absl::Seconds(60)}).ok());
  killer.join();
}

TEST(SlotPoolTest, AWaitIsInterrupted) {
  const auto pool = MakePool({.nbytes = 64 * kKiB});
  const SlotHold all = *pool->Allocate(64 * kKiB);
  int asked = 0;
  const ScopedInterruption scope([](void* count) { return ++*static_cast<int*>(count) == 3; },
                                 &asked);
  const absl::Status s = pool->Allocate(1, {.timeout = absl::InfiniteDuration()}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(pool->Allocate(1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(SlotPoolTest, AnIsolatedSlotHasASegmentOfItsOwnThatGoesWithIt) {
  const auto pool = MakePool({.nbytes = 16 * kKiB});
  SlotHold slot = *pool->Allocate(100 * kKiB, {.isolated = true});
  EXPECT_NE(slot.segment()->name(), pool->name());
  EXPECT_EQ(pool->segment_count(), 1);
  EXPECT_TRUE(pool->Contains(*slot.segment()));
  EXPECT_FALSE(MakePool({.nbytes = 4096})->Contains(*slot.segment()));
  const std::string path = FileOf(slot.name().segment);
  EXPECT_EQ(access(path.c_str(), F_OK), 0);
  const SlotName name = slot.name();
  slot = SlotHold();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_FALSE(TryOpen(name).ok());
  EXPECT_EQ(pool->Allocate(SIZE_MAX, {.isolated = true}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SlotPoolTest, AnotherProcessAllocatesInAllSegmentsButAddsNone) {
  ChildProcess child([](Channel& parent) {
    const std::shared_ptr<SlotPool> pool = *SlotPool::Open(parent.Receive<SegmentName>());
    parent.Send(Exhaust(*pool, 16 * kKiB).size());
    parent.Send(pool->segment_count());
    parent.Receive<char>();
    const std::vector<SlotHold> later = Exhaust(*pool, 16 * kKiB);
    parent.Send(later.size());
    parent.Send(pool->segment_count());
    bool contains = true;
    for (const SlotHold& slot : later) contains &= pool->Contains(*slot.segment());
    parent.Send(contains);
    for (const SlotHold& slot : later) FillWith(slot, 16 * kKiB, 4);
    parent.Send(later.back().name());
    pause();
  });
  const auto pool = MakePool({.nbytes = 64 * kKiB, .most_bytes = 128 * kKiB});
  child.Send(pool->name());
  EXPECT_EQ(child.Receive<size_t>(), 4u);
  EXPECT_EQ(child.Receive<int>(), 1);
  Exhaust(*pool, 16 * kKiB).clear();
  child.Send('x');
  EXPECT_EQ(child.Receive<size_t>(), 8u);
  EXPECT_EQ(child.Receive<int>(), 2);
  EXPECT_TRUE(child.Receive<bool>());
  const SlotHold slot = *SlotHold::Open(child.Receive<SlotName>());
  EXPECT_TRUE(IsFilledWith(slot, 16 * kKiB, 4));
  EXPECT_TRUE(pool->Contains(*slot.segment()));
  child.Kill();
  EXPECT_EQ(*pool->Reclaim(), 7 * 16 * kKiB);
}

// A slot of a segment that was added since this process opened the pool.
TEST(SlotPoolTest, APoolContainsTheSegmentsThatItsMakerAddedLater) {
  ChildProcess maker([](Channel& parent) {
    const auto pool = MakePool({.nbytes = 16 * kKiB, .most_bytes = 256 * kKiB});
    parent.Send(pool->name());
    parent.Receive<char>();
    const SlotHold slot = *pool->Allocate(100 * kKiB);
    parent.Send(slot.name());
    pause();
  });
  const std::shared_ptr<SlotPool> pool = *SlotPool::Open(maker.Receive<SegmentName>());
  maker.Send('x');
  const SlotHold slot = *SlotHold::Open(maker.Receive<SlotName>());
  EXPECT_TRUE(pool->Contains(*slot.segment()));
}

TEST(SlotPoolTest, MemoryOfAnotherKindIsNoPool) {
  ChildProcess maker([](Channel& parent) {
    const SlotHold block = *TryMake(8, SegmentKind::kDeviceBlocks);
    parent.Send(block.name().segment);
    pause();
  });
  const auto name = maker.Receive<SegmentName>();
  EXPECT_EQ(SlotPool::Open(name).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SlotPoolTest, TheProcessesPoolGivesIdleSegmentsBack) {
  InChild([] {
    SlotHold kept = *SlotPool::OfProcess().Allocate(1);
    const std::string path = FileOf(kept.name().segment);
    {
      const SlotHold large = *SlotPool::OfProcess().Allocate(size_t{100} << 20);
    }
    EXPECT_EQ(SlotPool::OfProcess().segment_count(), 2);
    EXPECT_GE(SlotPool::OfProcess().reserved_bytes(), size_t{100} << 20);
    SlotPool::TrimOfProcess(size_t{200} << 20);
    EXPECT_EQ(SlotPool::OfProcess().segment_count(), 2);
    SlotPool::TrimOfProcess(0);
    EXPECT_EQ(SlotPool::OfProcess().segment_count(), 1) << "that of the slot that is held";
    EXPECT_EQ(access(path.c_str(), F_OK), 0);
    kept = SlotHold();
    SlotPool::TrimOfProcess(0);
    EXPECT_EQ(SlotPool::OfProcess().segment_count(), 0);
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    EXPECT_TRUE(SlotPool::OfProcess().Allocate(1).ok());
  });
}

TEST(SlotPoolTest, WhatOthersHoldIsNotTrimmed) {
  ChildProcess child([](Channel& parent) {
    const SlotHold slot = *SlotHold::Open(parent.Receive<SlotName>());
    parent.Send(true);
    parent.Receive<char>();
    parent.Send(IsFilledWith(slot, kKiB, 1));
    pause();
  });
  SlotHold slot = *SlotPool::OfProcess().Allocate(kKiB);
  FillWith(slot, kKiB, 1);
  child.Send(slot.name());
  child.Receive<bool>();
  slot = SlotHold();
  SlotPool::TrimOfProcess(0);
  EXPECT_EQ(SlotPool::OfProcess().segment_count(), 1);
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
  child.Kill();
  SlotPool::TrimOfProcess(0);
  EXPECT_EQ(SlotPool::OfProcess().segment_count(), 0);
}

TEST(SlotPoolTest, AForkedChildHasAProcessPoolOfItsOwn) {
  const SlotHold slot = *SlotPool::OfProcess().Allocate(kKiB);
  FillWith(slot, kKiB, 1);
  ChildProcess child([&](Channel& parent) {
    const SlotHold own = *SlotPool::OfProcess().Allocate(kKiB);
    parent.Send(own.segment()->is_mine() && own.segment() != slot.segment());
    parent.Send(SlotPool::OfProcess().segment_count());
    parent.Send(SlotHold::FindAt(BytesOf(slot)).segment() == slot.segment());
    FillWith(own, kKiB, 2);
    SlotPool::TrimOfProcess(0);
    parent.Send(own.name());
    parent.Receive<char>();
    parent.Send(IsFilledWith(slot, kKiB, 1));
  });
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_EQ(child.Receive<int>(), 1);
  EXPECT_TRUE(child.Receive<bool>());
  const SlotHold there = *SlotHold::Open(child.Receive<SlotName>());
  EXPECT_TRUE(IsFilledWith(there, kKiB, 2));
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_EQ(child.Join(), 0);
  EXPECT_TRUE(IsFilledWith(there, kKiB, 2));
  UnlinkLeftBehind();
}

TEST(SlotPoolTest, ThreadsAllocateFreeAndTrimAtOnce) {
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      std::vector<std::pair<SlotHold, size_t>> all;
      for (uint64_t round = 0; round < 400; ++round) {
        const size_t nbytes = 1 + (round * 7919 + i) % (20 * kKiB);
        absl::StatusOr<SlotHold> slot = SlotPool::OfProcess().Allocate(nbytes);
        ASSERT_TRUE(slot.ok()) << slot.status();
        FillWith(*slot, nbytes, i * 1000 + round);
        ASSERT_TRUE(IsFilledWith(*slot, nbytes, i * 1000 + round));
        all.emplace_back(*std::move(slot), nbytes);
        if (all.size() > round % 13) all.clear();
        if (round % 50 == 0) SlotPool::TrimOfProcess(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  SlotPool::TrimOfProcess(0);
  EXPECT_EQ(SlotPool::OfProcess().segment_count(), 0);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
