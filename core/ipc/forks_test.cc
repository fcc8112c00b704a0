// What a forked child holds, and what it leaves alone.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/ipc/participants.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/testing/child_process.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr size_t kNbytes = 3 * kGranuleBytes;
constexpr SegmentKind kBlocks = SegmentKind::kDeviceBlocks;

std::shared_ptr<Segment> MakeSegment() { return *Segment::Create(100 * kGranuleBytes); }

// Allocates everything that can be had and writes to it.
void FillTheRest(Segment& segment) {
  std::vector<SlotHold> all;
  for (size_t nbytes : {30 * kGranuleBytes, kGranuleBytes}) {
    while (true) {
      absl::StatusOr<SlotHold> slot = segment.Allocate(nbytes);
      if (!slot.ok()) break;
      FillWith(*slot, slot->nbytes(), 99);
      all.push_back(*std::move(slot));
    }
  }
}

TEST(Forks, AChildHoldsWhatItsParentHeldUntilItDropsIt) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  SlotHold slot = *segment->Allocate(kNbytes);
  const SlotName name = slot.name();
  FillWith(slot, kNbytes, 1);
  ChildProcess child([&](Channel& parent) {
    parent.Receive<char>();
    parent.Send(IsFilledWith(slot, kNbytes, 1));
    parent.Send(slot.IsHeldByOthers(/*thorough=*/true));
    slot = SlotHold();
    parent.Send(true);
    pause();
  });
  EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/true));
  slot = SlotHold();
  FillTheRest(*segment);
  EXPECT_EQ(segment->Stats()->used_slots, 1u);
  EXPECT_TRUE(TryOpen(name).ok()) << "the child holds it";
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>()) << "the child's data were overwritten";
  EXPECT_FALSE(child.Receive<bool>()) << "the parent holds it no more";
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_FALSE(TryOpen(name).ok());
  EXPECT_EQ(segment->Stats()->used_slots, 0u);
}

TEST(Forks, WhatAKilledChildHeldIsReclaimed) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  SlotHold slot = *segment->Allocate(kNbytes);
  ChildProcess child([](Channel&) { pause(); });
  slot = SlotHold();
  EXPECT_EQ(segment->Stats()->used_slots, 1u);
  EXPECT_FALSE(segment->Allocate(segment->nbytes()).ok());
  child.Kill();
  EXPECT_TRUE(segment->Allocate(segment->nbytes()).ok());
  EXPECT_EQ(segment->Stats()->used_slots, 0u);
}

TEST(Forks, AParentThatIsKilledLeavesTheMemoryToItsChild) {
  ChildProcess parent_of_child([](Channel& parent) {
    const std::shared_ptr<Segment> segment = MakeSegment();
    const SlotHold slot = *segment->Allocate(kNbytes);
    FillWith(slot, kNbytes, 1);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      parent.Receive<char>();  // the parent was killed
      const PoolStats stats = *segment->Stats();
      parent.Send(stats.holders.size() == 1 && stats.holders[0].is_this_process);
      FillTheRest(*segment);
      parent.Send(IsFilledWith(slot, kNbytes, 1));
      _exit(0);
    }
    parent.Send(child);
    pause();
  });
  parent_of_child.Receive<pid_t>();
  parent_of_child.Kill();
  parent_of_child.Send('x');
  EXPECT_TRUE(parent_of_child.Receive<bool>());
  EXPECT_TRUE(parent_of_child.Receive<bool>());
  UnlinkLeftBehind();
}

TEST(Forks, AGrandchildHoldsItWhenItsParentsHaveEnded) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  SlotHold slot = *segment->Allocate(kNbytes);
  FillWith(slot, kNbytes, 1);
  ChildProcess child([&](Channel& parent) {
    const pid_t grandchild = fork();
    if (grandchild != 0) _exit(0);
    alarm(60);
    parent.Send(getpid());
    parent.Receive<char>();
    parent.Send(IsFilledWith(slot, kNbytes, 1));
    pause();
  });
  const auto grandchild = child.Receive<pid_t>();
  EXPECT_EQ(child.Join(), 0);
  slot = SlotHold();
  FillTheRest(*segment);
  EXPECT_EQ(segment->Stats()->used_slots, 1u);
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
  kill(grandchild, SIGKILL);
  while (segment->Stats()->used_slots != 0) usleep(1000);  // until the kernel has ended it
}

TEST(Forks, AChildAllocatesAndOpensInItsParentsSegment) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  const SlotHold slot = *segment->Allocate(kNbytes);
  ChildProcess child([&](Channel& parent) {
    const SlotHold own = *segment->Allocate(kNbytes);
    FillWith(own, kNbytes, 5);
    parent.Send(own.name());
    const SlotHold parents = *SlotHold::Open(parent.Receive<SlotName>());
    parent.Send(IsFilledWith(parents, kNbytes, 6));
    parent.Send(parents.segment() == segment);
    parent.Receive<char>();
  });
  const SlotHold of_child = *SlotHold::Open(child.Receive<SlotName>());
  EXPECT_TRUE(IsFilledWith(of_child, kNbytes, 5));
  const SlotHold later = *segment->Allocate(kNbytes);
  FillWith(later, kNbytes, 6);
  child.Send(later.name());
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_TRUE(child.Receive<bool>());
  child.Send('x');
  EXPECT_EQ(child.Join(), 0);
  EXPECT_FALSE(of_child.IsHeldByOthers(/*thorough=*/true));
  EXPECT_TRUE(IsFilledWith(of_child, kNbytes, 5));
}

TEST(Forks, AForkThatHoldsNothingJoinsWhenItAllocates) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  ChildProcess child([&](Channel& parent) {
    const SlotHold own = *segment->Allocate(kNbytes);
    parent.Send(true);
    pause();
  });
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_EQ(segment->Stats()->used_slots, 1u);
  child.Kill();
  EXPECT_EQ(*segment->Reclaim(), kNbytes);
}

// A GPU's memory is not the child's: the owner takes it back without asking the child.
TEST(Forks, AChildHoldsNoDeviceBlocksAndChangesNone) {
  SlotHold slot = *TryMake(8, kBlocks);
  SlotHold second = *SlotHold::Open(slot.name(), kBlocks);
  const SlotName name = slot.name();
  ChildProcess child([&](Channel& parent) {
    second = SlotHold();
    slot.Renew();
    slot = SlotHold();
    parent.Send(true);
    pause();
  });
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
  EXPECT_TRUE(slot.HasOtherHolds());
  EXPECT_TRUE(TryOpen(name, kBlocks).ok()) << "the child renewed or freed it";
}

TEST(Forks, AChildThatOpensItsParentsDeviceBlockHoldsIt) {
  const SlotHold slot = *TryMake(8, kBlocks);
  ChildProcess child([&](Channel& parent) {
    while (true) {
      absl::StatusOr<SlotHold> there = SlotHold::Open(slot.name(), kBlocks);
      parent.Send(there.ok());
      parent.Receive<char>();
      there = SlotHold();
      parent.Send(true);
      parent.Receive<char>();
    }
  });
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(child.Receive<bool>());
    EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/true));
    child.Send('x');
    EXPECT_TRUE(child.Receive<bool>());
    EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
    child.Send('x');
  }
  EXPECT_TRUE(child.Receive<bool>());
  child.Kill();
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
}

TEST(Forks, AForkThatFailsLeavesNoHold) {
  if (getuid() != 0) GTEST_SKIP() << "needs a user without other processes";
  InChild([] {
    const SlotHold slot = *TryMake();
    const struct rlimit none = {0, 0};
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &none), 0);
    if (setuid(54321) != 0) return;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) return;  // the limit does not hold here
    EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
  });
}

TEST(Forks, ForAChildThatGetsNoNumberItsParentHoldsTheMemory) {
  const std::shared_ptr<Segment> segment = MakeSegment();
  SlotHold slot = *segment->Allocate(kNbytes);
  const SlotName name = slot.name();
  std::vector<int> files;
  for (int i = 0; i < kMostParticipants; ++i) {
    files.push_back(OpenFileOf(*segment));
    TakeNumber(files.back(), i);
  }
  ChildProcess child([&](Channel& parent) {
    for (const int file : files) close(file);
    parent.Receive<char>();
    slot = SlotHold();
    parent.Send(true);
    parent.Receive<char>();
    parent.Send(TryOpen(name).ok());
  });
  for (const int file : files) close(file);
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
  EXPECT_TRUE(slot.HasOtherHolds()) << "this process holds for the child what that can't hold";
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
  slot = SlotHold();
  EXPECT_TRUE(TryOpen(name).ok());
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>()) << "later it can take part";
}

TEST(Forks, WhatAParentHoldsForItsChildOutlivesTheParentsSegment) {
  std::shared_ptr<Segment> segment = MakeSegment();
  SlotHold slot = *segment->Allocate(kNbytes);
  const SlotName name = slot.name();
  FillWith(slot, kNbytes, 1);
  std::vector<int> files;
  for (int i = 0; i < kMostParticipants; ++i) {
    files.push_back(OpenFileOf(*segment));
    TakeNumber(files.back(), i);
  }
  ChildProcess child([&](Channel& parent) {
    for (const int file : files) close(file);
    parent.Send(true);
    parent.Receive<char>();
    parent.Send(IsFilledWith(slot, kNbytes, 1));
  });
  for (const int file : files) close(file);
  EXPECT_TRUE(child.Receive<bool>());
  slot = SlotHold();
  segment.reset();
  // Others find the parent alive, and the memory in use.
  for (int round = 0; round < 3; ++round) {
    ChildProcess other([&](Channel& parent) {
      const std::shared_ptr<Segment> there = *Segment::Open(name.segment);
      EXPECT_TRUE(there->Reclaim().ok());
      FillTheRest(*there);
      parent.Send(true);
      pause();
    });
    EXPECT_TRUE(other.Receive<bool>());
  }
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
}

// A child has none of its parent's threads, and would wait forever for a lock that one of them had.
TEST(Forks, AChildForkedWhileThreadsOpenMakeAndAllocateCanDoSo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not support fork() after threads have started";
#endif
  InChild([] {
    std::atomic<bool> stop = false;
    const std::shared_ptr<Segment> segment = MakeSegment();
    const SlotHold slot = *segment->Allocate(kNbytes);
    FillWith(slot, kNbytes, 1);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      while (!stop) (void)TryOpen(slot.name()).ok();
    });
    threads.emplace_back([&] {
      while (!stop) (void)TryMake().ok();
    });
    threads.emplace_back([&] {
      while (!stop) {
        for (size_t i = 1; i < 20; ++i) (void)segment->Allocate(i * kGranuleBytes).ok();
      }
    });
    for (int round = 0; round < 50; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        const bool is_done = TryOpen(slot.name()).ok() && TryMake().ok() &&
                             segment->Allocate(1).ok() && IsFilledWith(slot, kNbytes, 1);
        UnlinkMySegments();
        _exit(is_done ? 0 : 1);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    // What the children had is free, and no more than one slot is held.
    EXPECT_TRUE(segment->Reclaim().ok());
    EXPECT_EQ(segment->Stats()->used_slots, 1u);
    UnlinkLeftBehind();
  });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
