#include "dovetail/core/ipc/participants.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/ipc/structure_lock.h"
#include "dovetail/core/testing/child_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

class ParticipantsTest : public testing::Test {
 protected:
  int Open() {
    files_.push_back(OpenFileOf(*segment_));
    EXPECT_GE(files_.back(), 0);
    return files_.back();
  }
  ~ParticipantsTest() override {
    for (const int file : files_) close(file);
  }

  std::shared_ptr<Segment> segment_ = *Segment::Create(100 * kGranuleBytes);
  std::vector<int> files_;
};

TEST_F(ParticipantsTest, ANumberBelongsToOneOpenFile) {
  const int a = Open(), b = Open();
  EXPECT_TRUE(TakeNumber(a, 200));
  EXPECT_FALSE(TakeNumber(b, 200));
  EXPECT_TRUE(TakeNumber(b, 201));
  EXPECT_FALSE(BeginCleaning(b, 200)) << "it lives";
  ReturnNumber(a, 200);
  EXPECT_TRUE(BeginCleaning(b, 200));
  EXPECT_FALSE(TakeNumber(a, 200)) << "somebody cleans up after it";
  EndCleaning(b, 200);
  EXPECT_TRUE(TakeNumber(a, 200));
}

TEST_F(ParticipantsTest, ANumberEndsWithItsProcess) {
  ChildProcess child([&](Channel& parent) {
    parent.Send(TakeNumber(OpenFileOf(*segment_), 255));
    pause();
  });
  const int file = Open();
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_FALSE(TakeNumber(file, 255));
  child.Kill();
  EXPECT_TRUE(BeginCleaning(file, 255));
  EndCleaning(file, 255);
  EXPECT_TRUE(TakeNumber(file, 255));
}

TEST_F(ParticipantsTest, WhoCleansUpWaitsForAnotherThatDoes) {
  const int a = Open(), b = Open();
  ASSERT_TRUE(BeginCleaning(a, 77));
  std::thread second([&] {
    EXPECT_TRUE(BeginCleaning(b, 77));
    EndCleaning(b, 77);
  });
  usleep(5000);
  EndCleaning(a, 77);
  second.join();
}

TEST_F(ParticipantsTest, ADescriptorThatIsNoneIsAnError) {
  EXPECT_EQ(OpenAgain(-1), -1);
  EXPECT_FALSE(TakeNumber(-1, 3));
  EXPECT_FALSE(BeginCleaning(-1, 3)) << "whose state is unknown is taken to live";
  const StructureLock lock(-1, segment_->head());
  EXPECT_EQ(lock.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(lock.status().message()), HasSubstr("Bad file descriptor"));
}

TEST_F(ParticipantsTest, MoreProcessesThanThereAreNumbersIsAnErrorThatPasses) {
  ChildProcess opener([](Channel& parent) {
    while (true) parent.Send(std::string(TryOpen(parent.Receive<SlotName>()).message()));
  });
  // (The opener has this process's number for its segment from the fork, and no hold.)
  const std::shared_ptr<Segment> other = *Segment::Create(10 * kGranuleBytes);
  const SlotHold slot = *other->Allocate(1);
  std::vector<int> files;
  for (int i = 0; i < kMostParticipants; ++i) {
    files.push_back(OpenFileOf(*other));
    EXPECT_EQ(TakeNumber(files.back(), i), i != 0) << i;  // this process has the first
  }
  opener.Send(slot.name());
  EXPECT_THAT(opener.Receive<std::string>(), HasSubstr("in 256 processes already"));
  close(files.back());
  files.pop_back();
  opener.Send(slot.name());
  EXPECT_EQ(opener.Receive<std::string>(), "");
  for (const int file : files) close(file);
}

TEST_F(ParticipantsTest, TheNumbersOfKilledProcessesAreUsedAgainAndTheirSlotsFreed) {
  constexpr int kAtOnce = 40;
  for (int round = 0; round < 8; ++round) {  // more than there are numbers
    std::vector<std::unique_ptr<ChildProcess>> children;
    for (int i = 0; i < kAtOnce; ++i) {
      children.push_back(std::make_unique<ChildProcess>([&](Channel& parent) {
        absl::StatusOr<SlotHold> slot = segment_->Allocate(1);
        if (slot.ok()) BytesOf(*slot)[0] = 1;
        parent.Send(slot.ok());
        pause();
      }));
    }
    for (const auto& child : children) ASSERT_TRUE(child->Receive<bool>()) << round;
    EXPECT_EQ(segment_->Stats()->used_slots, size_t{kAtOnce});
    EXPECT_EQ(segment_->Stats()->holders.size(), size_t{kAtOnce});
    for (const auto& child : children) child->Kill();
  }
  EXPECT_EQ(segment_->Stats()->used_slots, 0u);
}

TEST_F(ParticipantsTest, AStoppedProcessThatHasTheStructureLockIsAnErrorAndAKilledOneIsNot) {
  ChildProcess child([&](Channel& parent) {
    const int file = OpenFileOf(*segment_);
    const StructureLock lock(file, segment_->head());
    parent.Send(lock.status().ok());
    pause();
  });
  ASSERT_TRUE(child.Receive<bool>());
  kill(child.pid(), SIGSTOP);
  const absl::StatusOr<SlotHold> slot = segment_->Allocate(1);
  EXPECT_EQ(slot.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(slot.status().message()), HasSubstr("it may be stopped"));
  child.Kill();
  EXPECT_TRUE(segment_->Allocate(1).ok());
}

// What is free is taken without the lock.
TEST_F(ParticipantsTest, AStoppedProcessDoesNotKeepOthersFromFreeSlotsAndDrops) {
  const SlotHold mine = *segment_->Allocate(2 * kGranuleBytes);
  {
    const SlotHold freed = *segment_->Allocate(kGranuleBytes);
  }
  const int file = Open();
  const StructureLock lock(file, segment_->head());
  ASSERT_TRUE(lock.status().ok());
  EXPECT_TRUE(segment_->Allocate(kGranuleBytes).ok());
  EXPECT_TRUE(TryOpen(mine.name()).ok());
  EXPECT_FALSE(mine.IsHeldByOthers(/*thorough=*/false));
}

TEST_F(ParticipantsTest, AProcessThatKeepsTheStructureLockHoldsUpItsSegmentAlone) {
  ChildProcess child([&](Channel& parent) {
    const StructureLock lock(OpenFileOf(*segment_), segment_->head());
    parent.Send(lock.status().ok());
    pause();
  });
  ASSERT_TRUE(child.Receive<bool>());
  std::vector<std::thread> waiting;
  std::atomic<int> ended = 0;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      EXPECT_EQ(segment_->Allocate(1).status().code(), absl::StatusCode::kUnavailable);
      ++ended;
    });
  }
  while (segment_->head().is_awaited.load() == 0) usleep(100);
  EXPECT_TRUE(TryMake(8 * kGranuleBytes).ok());
  const pid_t fork_of_this = fork();
  if (fork_of_this == 0) _exit(0);
  waitpid(fork_of_this, nullptr, 0);
  EXPECT_EQ(ended, 0) << "none of this had to wait";
  for (std::thread& thread : waiting) thread.join();
}

// Somebody who waits for longer than a stopped process would be waited for.
TEST_F(ParticipantsTest, WhoeverGivesTheStructureLockBackIsNotTakenToBeStopped) {
  ChildProcess child([&](Channel& parent) {
    const int file = OpenFileOf(*segment_);
    parent.Send(true);
    while (true) {
      const StructureLock lock(file, segment_->head());
      usleep(20'000);
    }
  });
  ASSERT_TRUE(child.Receive<bool>());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(segment_->Reclaim().ok());
}

TEST_F(ParticipantsTest, TheStructureLockExcludesProcesses) {
  struct Shared {
    volatile int inside;
    volatile int most;
  };
  SlotHold slot = *segment_->Allocate(sizeof(Shared));
  auto* shared = reinterpret_cast<Shared*>(BytesOf(slot));
  *shared = {};
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(std::make_unique<ChildProcess>([&](Channel&) {
      const int file = OpenFileOf(*segment_);
      for (int round = 0; round < 200; ++round) {
        const StructureLock lock(file, segment_->head());
        if (!lock.status().ok()) _exit(1);
        shared->inside = shared->inside + 1;
        if (shared->inside > shared->most) shared->most = shared->inside;
        shared->inside = shared->inside - 1;
      }
    }));
  }
  for (const auto& child : children) EXPECT_EQ(child->Join(), 0);
  EXPECT_EQ(shared->inside, 0);
  EXPECT_EQ(shared->most, 1);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
