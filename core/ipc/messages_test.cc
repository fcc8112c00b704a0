// Messages that keep a slot until they have been opened.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/core/testing/child_process.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr size_t kNbytes = 3 * kGranuleBytes;

std::shared_ptr<SlotPool> MakePool() { return *SlotPool::Create({.nbytes = 100 * kGranuleBytes}); }
uint64_t Used(SlotPool& pool) { return pool.Stats()->used_slots; }

// A message that is to be opened `count` times, of memory that nobody else holds.
SlotName Send(SlotPool& pool, uint32_t count, uint64_t key = 1) {
  SlotHold slot = *pool.Allocate(kNbytes);
  FillWith(slot, kNbytes, key);
  return *slot.AddMessages(count);
}

// Opens a message as the doors do.
absl::StatusOr<SlotHold> Receive(const SlotName& name) {
  absl::StatusOr<SlotHold> slot = SlotHold::Open(name);
  if (slot.ok()) slot->TakeMessages(name);
  return slot;
}

TEST(Messages, AMessageKeepsItsSlotUntilItHasBeenOpened) {
  const auto pool = MakePool();
  const SlotName name = Send(*pool, 1);
  EXPECT_EQ(Used(*pool), 1u);
  EXPECT_EQ(pool->Stats()->messages, 1u);
  EXPECT_EQ(*pool->Reclaim(), 0u);
  {
    const SlotHold slot = *Receive(name);
    EXPECT_TRUE(IsFilledWith(slot, kNbytes, 1));
    EXPECT_EQ(pool->Stats()->messages, 0u);
    EXPECT_EQ(Used(*pool), 1u);
  }
  EXPECT_EQ(Used(*pool), 0u);
  EXPECT_FALSE(Receive(name).ok());
}

TEST(Messages, OneThatIsOpenedThreeTimesKeepsItForTheThird) {
  const auto pool = MakePool();
  const SlotName name = Send(*pool, 3);
  for (int i = 0; i < 3; ++i) {
    ChildProcess reader([&](Channel& parent) {
      const absl::StatusOr<SlotHold> slot = Receive(name);
      parent.Send(slot.ok() && IsFilledWith(*slot, kNbytes, 1));
    });
    EXPECT_TRUE(reader.Receive<bool>());
    EXPECT_EQ(reader.Join(), 0);
    EXPECT_EQ(Used(*pool), i < 2 ? 1u : 0u);
  }
}

TEST(Messages, SeveralOfOneSlotAddUp) {
  const auto pool = MakePool();
  const SlotName name = Send(*pool, 1);
  {
    SlotHold slot = *SlotHold::Open({name.segment, name.slot, name.generation});
    EXPECT_TRUE(slot.AddMessages(2).ok());
    const absl::Status s = slot.AddMessages(kMostMessages - 2).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
  }
  EXPECT_EQ(pool->Stats()->messages, 3u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Receive(name).ok());
  EXPECT_FALSE(Receive(name).ok());
}

TEST(Messages, TheSendersHoldIsCountedInStatistics) {
  const auto pool = MakePool();
  Send(*pool, 1);
  const PoolStats stats = *pool->Stats();
  ASSERT_EQ(stats.holders.size(), 1u);
  EXPECT_TRUE(stats.holders[0].is_this_process);
  EXPECT_EQ(stats.holders[0].nbytes, kNbytes);
}

TEST(Messages, TheyEndWithTheirSenderHoweverThatEnds) {
  for (const bool is_killed : {true, false}) {
    const auto pool = MakePool();
    ChildProcess sender([&](Channel& parent) {
      for (int i = 0; i < 5; ++i) Send(*pool, 2);
      parent.Send(Send(*pool, 1));
      if (is_killed) pause();
    });
    const auto name = sender.Receive<SlotName>();
    if (is_killed) {
      EXPECT_EQ(Used(*pool), 6u);
      EXPECT_TRUE(Receive(name).ok());
      sender.Kill();
    } else {
      EXPECT_EQ(sender.Join(), 0);
    }
    EXPECT_EQ(Used(*pool), 0u);
    EXPECT_FALSE(Receive(name).ok());
    EXPECT_TRUE(pool->Allocate(100 * kGranuleBytes).ok());
  }
}

TEST(Messages, ASenderCanDropItsPool) {
  ChildProcess sender([](Channel& parent) {
    SlotName name;
    {
      const auto pool = MakePool();
      name = Send(*pool, 1, 7);
    }
    parent.Send(name);
    parent.Receive<char>();
    MakePool();  // as a pool is dropped, what messages no longer need goes
    parent.Send(access(FileOf(name.segment).c_str(), F_OK) == 0);
  });
  const auto name = sender.Receive<SlotName>();
  {
    const SlotHold slot = *Receive(name);
    EXPECT_TRUE(IsFilledWith(slot, kNbytes, 7));
  }
  sender.Send('x');
  EXPECT_FALSE(sender.Receive<bool>()) << "the file is gone";
}

TEST(Messages, IsolatedMemoryThatWasOpenedGoes) {
  const auto pool = MakePool();
  std::vector<SlotName> names;
  for (int i = 0; i < 100; ++i) {
    SlotHold slot = *pool->Allocate(10, {.isolated = true});
    names.push_back(*slot.AddMessages(1));
  }
  for (const SlotName& name : names) EXPECT_TRUE(Receive(name).ok());
  for (int i = 0; i < 100 / 30; ++i) (void)pool->Allocate(10, {.isolated = true}).ok();
  int left = 0;
  for (const SlotName& name : names) left += access(FileOf(name.segment).c_str(), F_OK) == 0;
  EXPECT_LE(left, 10);
}

TEST(Messages, EachSenderAnswersForItsOwn) {
  const auto pool = MakePool();
  SlotName sent_on;
  {
    ChildProcess first([&](Channel& parent) {
      parent.Send(Send(*pool, 2, 5));
      pause();
    });
    const auto name = first.Receive<SlotName>();
    ChildProcess second([&](Channel& parent) {
      const SlotHold slot = *Receive(name);
      parent.Send(*slot.AddMessages(1));
      parent.Send(*slot.AddMessages(1));
      parent.Receive<char>();
    });
    EXPECT_TRUE(Receive(second.Receive<SlotName>()).ok());
    sent_on = second.Receive<SlotName>();
    second.Send('x');
    EXPECT_EQ(second.Join(), 0);
    EXPECT_EQ(pool->Stats()->messages, 1u) << "the first sender's second";
    const SlotHold slot = *Receive(name);
    EXPECT_TRUE(IsFilledWith(slot, kNbytes, 5));
    sent_on = *slot.AddMessages(1);
  }  // the first sender is killed
  EXPECT_EQ(Used(*pool), 1u);
  EXPECT_TRUE(IsFilledWith(*Receive(sent_on), kNbytes, 5));
  EXPECT_EQ(Used(*pool), 0u);
}

TEST(Messages, ThereIsAMostOfSenders) {
  const auto pool = MakePool();
  const SlotHold slot = *pool->Allocate(kNbytes);
  std::vector<std::unique_ptr<ChildProcess>> senders;
  for (int i = 0; i < kMostSenders; ++i) {
    senders.push_back(std::make_unique<ChildProcess>([&](Channel& parent) {
      parent.Send(slot.AddMessages(1).ok());
      pause();
    }));
    EXPECT_TRUE(senders.back()->Receive<bool>());
  }
  EXPECT_EQ(slot.AddMessages(1).status().code(), absl::StatusCode::kResourceExhausted);
  senders.clear();
  EXPECT_TRUE(pool->Reclaim().ok());
  EXPECT_TRUE(slot.AddMessages(1).ok());
}

TEST(Messages, MemoryOfADroppedPoolGoesWithItsLastTensor) {
  SegmentName name;
  {
    auto pool = MakePool();
    const SlotHold slot = *pool->Allocate(kNbytes);
    name = pool->name();
    EXPECT_TRUE(Receive(*slot.AddMessages(1)).ok());
    pool.reset();
    EXPECT_EQ(access(FileOf(name).c_str(), F_OK), 0);
  }
  EXPECT_NE(access(FileOf(name).c_str(), F_OK), 0);
}

TEST(Messages, ManyProcessesSendAndReceiveWithoutWaitingForEachOther) {
  const auto pool = MakePool();
  std::vector<std::unique_ptr<ChildProcess>> senders;
  for (uint64_t i = 0; i < 3; ++i) {
    senders.push_back(std::make_unique<ChildProcess>([&, i](Channel& parent) {
      for (uint64_t key = 0; key < 500; ++key) {
        absl::StatusOr<SlotHold> slot = pool->Allocate(kNbytes, {.timeout = absl::Seconds(60)});
        if (!slot.ok()) _exit(1);
        FillWith(*slot, kNbytes, i * 1000 + key);
        const SlotName name = *slot->AddMessages(1);
        *slot = SlotHold();
        parent.Send(name);
        if (key >= 8) parent.Receive<char>();  // it is so far ahead of the receiver
      }
      pause();
    }));
  }
  for (uint64_t key = 0; key < 500; ++key) {
    for (uint64_t i = 0; i < 3; ++i) {
      const absl::StatusOr<SlotHold> slot = Receive(senders[i]->Receive<SlotName>());
      ASSERT_TRUE(slot.ok()) << slot.status();
      ASSERT_TRUE(IsFilledWith(*slot, kNbytes, i * 1000 + key));
      senders[i]->Send('x');
    }
  }
  EXPECT_EQ(Used(*pool), 0u);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
