// With real processes. Each child is forked before this package is used.

#include "dovetail/core/ipc/segment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <barrier>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/testing/child_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }
// By this process, or by a concurrent test's process.
bool IsUnlinked(const std::string& path) {
  for (int attempt = 0; attempt < 5000 && IsThere(path); ++attempt) {
    UnlinkLeftBehind();
    usleep(1000);
  }
  return !IsThere(path);
}
std::shared_ptr<Segment> Make(size_t nbytes = 100, SegmentKind kind = SegmentKind::kHostMemory) {
  absl::StatusOr<std::shared_ptr<Segment>> made = Segment::Create(kind, nbytes);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

// Opens and borrows the segments that the parent names, and answers whether it could.
void BorrowWhenTold(Channel& parent) {
  while (true) {
    const auto name = parent.Receive<SegmentName>();
    absl::StatusOr<std::shared_ptr<Segment>> s = Segment::Open(name, SegmentKind::kDeviceBlock);
    parent.Send(s.ok() && (*s)->Borrow().ok());
    parent.Receive<char>();
    if (s.ok()) (*s)->Return();
    parent.Send(true);
  }
}

TEST(ProcessTokenTest, AProcessIsKnownToLiveUntilItIsKilled) {
  ChildProcess child([](Channel& parent) {
    parent.Send(MyProcess().value_or(ProcessToken{}));
    pause();
  });
  const auto token = child.Receive<ProcessToken>();
  EXPECT_NE(token, ProcessToken{});
  EXPECT_TRUE(IsAlive(token));
  child.Kill();
  EXPECT_FALSE(IsAlive(token));
  EXPECT_TRUE(IsUnlinked(FilePath(token, "alive").c_str()));
}

TEST(ProcessTokenTest, ATokenIsOfOneProcessAndNoChild) {
  const ProcessToken mine = *MyProcess();
  EXPECT_EQ(*MyProcess(), mine);
  ChildProcess child([mine](Channel& parent) {
    parent.Send(MyProcess().value_or(mine));
    pause();
  });
  EXPECT_NE(child.Receive<ProcessToken>(), mine);
  EXPECT_FALSE(IsAlive(ProcessToken{12345}));
}

// A child shares the open file, to which the lock belongs.
TEST(ProcessTokenTest, AChildThatLivesOnDoesNotKeepItsParentAlive) {
  ChildProcess owner([](Channel& parent) {
    parent.Send(MyProcess().value_or(ProcessToken{}));
    if (fork() == 0) {
      parent.Send(getpid());
      pause();
    }
    pause();
  });
  const auto token = owner.Receive<ProcessToken>();
  const auto grandchild = owner.Receive<pid_t>();
  owner.Kill();
  EXPECT_FALSE(IsAlive(token));
  kill(grandchild, SIGKILL);
  UnlinkLeftBehind();
}

TEST(ProcessTokenTest, WhatIsNotLeftBehindIsNotUnlinked) {
  const std::shared_ptr<Segment> mine = Make();
  ChildProcess child([](Channel& parent) {
    const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kHostMemory, 1);
    parent.Send(s->name());
    pause();
  });
  const auto name = child.Receive<SegmentName>();
  UnlinkLeftBehind();
  EXPECT_TRUE(IsThere(PathOf(mine->name())));
  EXPECT_TRUE(IsThere(PathOf(name)));
  child.Kill();
  EXPECT_TRUE(IsUnlinked(PathOf(name)));
  EXPECT_TRUE(IsUnlinked(FilePath(name.process, "alive").c_str()));
}

TEST(SegmentTest, AnotherProcessWritesToTheSameMemory) {
  ChildProcess child([](Channel& parent) {
    const auto s = *Segment::Open(parent.Receive<SegmentName>(), SegmentKind::kHostMemory);
    parent.Send(static_cast<char*>(s->data())[99]);
    static_cast<char*>(s->data())[0] = 5;
    parent.Send(s->nbytes());
  });
  const std::shared_ptr<Segment> s = Make();
  static_cast<char*>(s->data())[99] = 3;
  child.Send(s->name());
  EXPECT_EQ(child.Receive<char>(), 3);
  EXPECT_EQ(child.Receive<size_t>(), size_t{100});
  EXPECT_EQ(static_cast<char*>(s->data())[0], 5);
}

TEST(SegmentTest, TheFileIsOfThisUserAloneAndGoesWithTheSegment) {
  std::shared_ptr<Segment> s = Make(5000);
  const std::string path = PathOf(s->name());
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_EQ(facts.st_size, 4096 + 5000);
  EXPECT_GE(facts.st_blocks * 512, 4096 + 5000);  // reserved
  EXPECT_EQ(reinterpret_cast<uintptr_t>(s->data()) % 256, 0u);
  s.reset();
  EXPECT_FALSE(IsThere(path));
}

TEST(SegmentTest, ItIsFoundByAnyAddressInsideAndNoOther) {
  const std::shared_ptr<Segment> s = Make(100);
  char* data = static_cast<char*>(s->data());
  EXPECT_EQ(Segment::FindAt(data), s);
  EXPECT_EQ(Segment::FindAt(data + 99), s);
  EXPECT_EQ(Segment::FindAt(data + 100), nullptr);
  EXPECT_EQ(Segment::FindAt(data - 1), nullptr);
  EXPECT_EQ(Segment::FindAt(nullptr), nullptr);
  EXPECT_EQ(s.use_count(), 1);
}

TEST(SegmentTest, OpenedTwiceItIsMappedOnce) {
  const std::shared_ptr<Segment> s = Make();
  EXPECT_EQ(*Segment::Open(s->name(), SegmentKind::kHostMemory), s);
  const absl::Status other = Segment::Open(s->name(), SegmentKind::kDeviceBlock).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SegmentTest, ThreadsThatOpenItAtTheSameTimeGetOneMapping) {
  ChildProcess owner([](Channel& parent) {
    const auto s = Make();
    parent.Send(s->name());
    parent.Receive<char>();
  });
  const auto name = owner.Receive<SegmentName>();
  constexpr int kThreads = 4;
  std::barrier meet(kThreads);
  std::shared_ptr<Segment> opened[kThreads];
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 300; ++round) {
        meet.arrive_and_wait();
        opened[i] = Segment::Open(name, SegmentKind::kHostMemory).value_or(nullptr);
        meet.arrive_and_wait();
        EXPECT_NE(opened[i], nullptr);
        EXPECT_EQ(opened[i], opened[0]);
        // A thread that came too late has unmapped its own mapping, and forgot no other.
        EXPECT_EQ(*Segment::Open(name, SegmentKind::kHostMemory), opened[0]);
        EXPECT_EQ(Segment::FindAt(opened[0]->data()), opened[0]);
        meet.arrive_and_wait();
        opened[i] = nullptr;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  owner.Send('x');
  EXPECT_EQ(owner.Join(), 0);
}

TEST(SegmentTest, WhatIsGoneIsAnErrorThatSaysSo) {
  const SegmentName name = Make()->name();
  const absl::Status s = Segment::Open(name, SegmentKind::kHostMemory).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("has released it, or has ended"));
}

// Opens the segments that the parent names, and answers with the error.
void OpenWhenTold(Channel& parent) {
  while (true) {
    const auto name = parent.Receive<SegmentName>();
    parent.Send(std::string(Segment::Open(name, SegmentKind::kHostMemory).status().message()));
  }
}

TEST(SegmentTest, ALinkInThePlaceOfTheFileIsNotFollowed) {
  ChildProcess child(&OpenWhenTold);
  const std::shared_ptr<Segment> s = Make();
  child.Send(s->name());
  EXPECT_EQ(child.Receive<std::string>(), "");
  const std::string path = PathOf(s->name()), moved = path + ".moved";
  ASSERT_EQ(rename(path.c_str(), moved.c_str()), 0);
  ASSERT_EQ(symlink(moved.c_str(), path.c_str()), 0);
  child.Send(s->name());
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("can't be opened"));
  unlink(moved.c_str());
}

TEST(SegmentTest, AFileOfAnotherUserIsRefused) {
  ChildProcess child(&OpenWhenTold);
  const std::shared_ptr<Segment> s = Make();
  if (chown(PathOf(s->name()).c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root may give files away";
  }
  child.Send(s->name());
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("belongs to another user"));
}

TEST(SegmentTest, TheMemoryOfAProcessThatHasEndedIsNotOpened) {
  ChildProcess owner([](Channel& parent) {
    const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kHostMemory, 1);
    parent.Send(s->name());
    pause();
  });
  const auto name = owner.Receive<SegmentName>();
  owner.Kill();
  // Another process may have unlinked the file meanwhile.
  const absl::Status status = Segment::Open(name, SegmentKind::kHostMemory).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("has released it, or has ended"));
  UnlinkLeftBehind();
}

TEST(SegmentTest, MoreThanThereIsRoomForIsAnError) {
  for (const size_t nbytes : {size_t{1} << 50, SIZE_MAX, SIZE_MAX - 5000}) {
    const absl::Status s = Segment::Create(SegmentKind::kHostMemory, nbytes).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
  }
}

TEST(SegmentTest, WhoClosesItLearnsOfOtherProcessesThatBorrowed) {
  ChildProcess child(&BorrowWhenTold);
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  child.Send(s->name());
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_FALSE(s->Close());
  EXPECT_FALSE(s->Close());
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());  // returned
  EXPECT_TRUE(s->Close());
}

TEST(SegmentTest, NobodyBorrowsWhatWasClosed) {
  ChildProcess child(&BorrowWhenTold);
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  EXPECT_TRUE(s->Close());
  child.Send(s->name());
  EXPECT_FALSE(child.Receive<bool>());
  EXPECT_EQ(s->Borrow().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(s->Close());
}

TEST(SegmentTest, ABorrowerThatWasKilledCountsNoMore) {
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  {
    ChildProcess child(&BorrowWhenTold);
    child.Send(s->name());
    EXPECT_TRUE(child.Receive<bool>());
    EXPECT_FALSE(s->Close());
  }
  EXPECT_TRUE(s->Close());
  UnlinkLeftBehind();
}

TEST(SegmentTest, EachBorrowOfThisProcessIsCounted) {
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  EXPECT_TRUE(s->Borrow().ok());
  EXPECT_TRUE(s->Borrow().ok());
  s->Return();
  EXPECT_FALSE(s->Close());
  s->Return();
  EXPECT_TRUE(s->Close());
}

// The head has a limited number of entries; entries of dead processes are reused.
TEST(SegmentTest, ManyProcessesBorrowOneAfterAnother) {
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  for (int i = 0; i < Segment::kMostBorrowers + 10; ++i) {
    ChildProcess child(&BorrowWhenTold);
    child.Send(s->name());
    ASSERT_TRUE(child.Receive<bool>()) << i;
  }
  EXPECT_TRUE(s->Close());
  UnlinkLeftBehind();
}

TEST(SegmentTest, AForkedChildUnlinksNothing) {
  std::shared_ptr<Segment> s = Make();
  const std::string path = PathOf(s->name());
  ChildProcess child([&](Channel& parent) {
    s.reset();
    parent.Send(IsThere(path));
  });
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_TRUE(IsThere(path));
}

TEST(SegmentNameTest, OnlySixteenBytesAreAName) {
  const SegmentName name{ProcessToken{7}, 9};
  EXPECT_EQ(*SegmentName::FromBytes(name.ToBytes()), name);
  EXPECT_FALSE(SegmentName::FromBytes("").ok());
  EXPECT_FALSE(SegmentName::FromBytes(name.ToBytes() + "x").ok());
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
