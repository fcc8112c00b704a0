// With real processes. Each child is forked before this package is used.

#include "dovetail/core/ipc/segment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <barrier>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
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
SlotHold Make(size_t nbytes = 100, SegmentKind kind = SegmentKind::kHostMemory) {
  absl::StatusOr<SlotHold> made = TryMake(nbytes, kind);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// Opens the slots that the parent names, and answers with the error.
void OpenWhenTold(Channel& parent) {
  while (true) {
    parent.Send(std::string(TryOpen(parent.Receive<SlotName>()).message()));
  }
}

TEST(SegmentFolderTest, TheMakerIsKnownToLiveUntilItIsKilled) {
  ChildProcess child([](Channel& parent) {
    const SlotHold slot = Make();
    parent.Send(slot.name());
    pause();
  });
  const auto name = child.Receive<SlotName>();
  const std::shared_ptr<Segment> segment = *Segment::Open(name.segment);
  EXPECT_TRUE(segment->has_maker());
  child.Kill();
  EXPECT_FALSE(segment->has_maker());
  EXPECT_TRUE(IsUnlinked(FileOf(name.segment)));
}

TEST(SegmentFolderTest, ATokenIsOfOneProcessAndNoChild) {
  const ProcessToken mine = *MyProcess();
  EXPECT_EQ(*MyProcess(), mine);
  ChildProcess child([mine](Channel& parent) {
    parent.Send(MyProcess().value_or(mine));
    pause();
  });
  EXPECT_NE(child.Receive<ProcessToken>(), mine);
}

// A child shares the open file, to which the lock belongs.
TEST(SegmentFolderTest, AChildThatLivesOnDoesNotKeepItsParentAlive) {
  ChildProcess owner([](Channel& parent) {
    const SlotHold slot = Make();
    parent.Send(slot.name());
    if (fork() == 0) {
      parent.Send(getpid());
      pause();
    }
    pause();
  });
  const auto name = owner.Receive<SlotName>();
  const auto grandchild = owner.Receive<pid_t>();
  const std::shared_ptr<Segment> segment = *Segment::Open(name.segment);
  EXPECT_TRUE(segment->has_maker());
  owner.Kill();
  EXPECT_FALSE(segment->has_maker());
  kill(grandchild, SIGKILL);
  UnlinkLeftBehind();
}

TEST(SegmentFolderTest, WhatIsNotLeftBehindIsNotUnlinked) {
  const SlotHold mine = Make();
  ChildProcess child([](Channel& parent) {
    const SlotHold slot = Make(1);
    parent.Send(slot.name());
    pause();
  });
  const auto name = child.Receive<SlotName>();
  UnlinkLeftBehind();
  EXPECT_TRUE(IsThere(FileOf(mine.name().segment)));
  EXPECT_TRUE(IsThere(FileOf(name.segment)));
  child.Kill();
  EXPECT_TRUE(IsUnlinked(FileOf(name.segment)));
}

TEST(SegmentTest, AnotherProcessWritesToTheSameMemory) {
  ChildProcess child([](Channel& parent) {
    const SlotHold slot = *SlotHold::Open(parent.Receive<SlotName>());
    parent.Send(BytesOf(slot)[99]);
    BytesOf(slot)[0] = 5;
    parent.Send(slot.nbytes());
  });
  const SlotHold slot = Make();
  BytesOf(slot)[99] = 3;
  child.Send(slot.name());
  EXPECT_EQ(child.Receive<char>(), 3);
  EXPECT_EQ(child.Receive<size_t>(), kGranuleBytes);
  EXPECT_EQ(BytesOf(slot)[0], 5);
}

TEST(SegmentTest, TheFileIsOfThisUserAloneAndGoesWithTheSegment) {
  SlotHold slot = Make(5000);
  const std::string path = FileOf(slot.name().segment);
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_EQ(static_cast<size_t>(facts.st_size), SegmentParts(2).nbytes);
  EXPECT_GE(facts.st_blocks * 512, 8192) << "pages are reserved";
  EXPECT_EQ(slot.nbytes(), 2 * kGranuleBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(BytesOf(slot)) % kGranuleBytes, 0u);
  slot = SlotHold();
  EXPECT_FALSE(IsThere(path));
}

TEST(SegmentTest, PagesAreReservedWhenASlotFirstGetsThem) {
  const std::shared_ptr<Segment> segment = *Segment::Create(64 * kGranuleBytes);
  EXPECT_EQ(segment->reserved_bytes(), 0u);
  SlotHold slot = *segment->Allocate(10 * kGranuleBytes);
  EXPECT_EQ(segment->reserved_bytes(), 10 * kGranuleBytes);
  slot = SlotHold();
  EXPECT_EQ(segment->reserved_bytes(), 10 * kGranuleBytes);
  slot = *segment->Allocate(10 * kGranuleBytes);
  EXPECT_EQ(segment->reserved_bytes(), 10 * kGranuleBytes);
}

TEST(SegmentTest, ASlotIsFoundByAnyAddressInsideAndNoOther) {
  const std::shared_ptr<Segment> segment = *Segment::Create(200 * kGranuleBytes);
  const SlotHold first = *segment->Allocate(1);
  {
    const SlotHold large = *segment->Allocate(150 * kGranuleBytes);
    char* const data = BytesOf(large);
    for (char* at : {data, data + 99, data + large.nbytes() - 1}) {
      const SlotHold found = SlotHold::FindAt(at);
      ASSERT_TRUE(found);
      EXPECT_EQ(found.slot(), large.slot());
      EXPECT_EQ(found.segment(), segment);
      EXPECT_TRUE(large.HasOtherHolds());
    }
    EXPECT_FALSE(large.HasOtherHolds());
    EXPECT_FALSE(SlotHold::FindAt(data + large.nbytes())) << "memory of no slot";
    EXPECT_EQ(SlotHold::FindAt(data - 1).slot(), first.slot());
  }
  EXPECT_FALSE(SlotHold::FindAt(BytesOf(first) + kGranuleBytes)) << "nobody holds it";
  EXPECT_FALSE(SlotHold::FindAt(BytesOf(first) - 1));
  EXPECT_FALSE(SlotHold::FindAt(nullptr));
  EXPECT_FALSE(SlotHold::FindAt(BytesOf(first) + segment->nbytes()));
}

TEST(SegmentTest, OpenedTwiceItIsMappedOnce) {
  const SlotHold slot = Make();
  const SlotHold again = *SlotHold::Open(slot.name());
  EXPECT_EQ(again.segment(), slot.segment());
  EXPECT_EQ(BytesOf(again), BytesOf(slot));
  EXPECT_EQ(TryOpen(slot.name(), SegmentKind::kDeviceBlocks).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(SegmentTest, ThreadsThatOpenItAtTheSameTimeGetOneMapping) {
  ChildProcess owner([](Channel& parent) {
    while (parent.Receive<bool>()) {
      const SlotHold slot = Make();
      parent.Send(slot.name());
      parent.Receive<char>();
    }
  });
  constexpr int kThreads = 4;
  std::barrier meet(kThreads);
  SlotName name;
  SlotHold opened[kThreads];
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        if (i == 0) owner.Send(true);
        if (i == 0) name = owner.Receive<SlotName>();
        meet.arrive_and_wait();
        absl::StatusOr<SlotHold> hold = SlotHold::Open(name);
        EXPECT_TRUE(hold.ok()) << hold.status();
        opened[i] = *std::move(hold);
        meet.arrive_and_wait();
        EXPECT_EQ(opened[i].segment(), opened[0].segment());
        // A thread that came too late has unmapped its own mapping, and forgot no other.
        EXPECT_EQ(SlotHold::Open(name)->segment(), opened[0].segment());
        EXPECT_EQ(SlotHold::FindAt(BytesOf(opened[0])).segment(), opened[0].segment());
        meet.arrive_and_wait();
        opened[i] = SlotHold();
        if (i == 0) owner.Send('x');
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  owner.Send(false);
  EXPECT_EQ(owner.Join(), 0);
}

TEST(SegmentTest, WhatIsGoneIsAnErrorThatSaysSo) {
  const SlotName name = Make().name();
  const absl::Status s = TryOpen(name);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("has released it, or has ended"));
}

TEST(SegmentTest, ANameIsStaleOnceItsMemoryWasFreedAndUsedAgain) {
  const std::shared_ptr<Segment> segment = *Segment::Create(10 * kGranuleBytes);
  SlotHold slot = *segment->Allocate(1);
  const SlotName name = slot.name();
  slot = SlotHold();
  EXPECT_THAT(std::string(TryOpen(name).message()), HasSubstr("has released it"));
  slot = *segment->Allocate(1);
  EXPECT_EQ(slot.slot(), name.slot);
  EXPECT_THAT(std::string(TryOpen(name).message()), HasSubstr("has released it"));
  EXPECT_TRUE(TryOpen(slot.name()).ok());
}

TEST(SegmentTest, AnotherProcessKeepsTheMemoryAfterItsMakerHasEnded) {
  ChildProcess owner([](Channel& parent) {
    const SlotHold slot = Make();
    FillWith(slot, 100, 7);
    parent.Send(slot.name());
    parent.Receive<char>();
  });
  const auto name = owner.Receive<SlotName>();
  const SlotHold slot = *SlotHold::Open(name);
  owner.Kill();
  EXPECT_TRUE(IsUnlinked(FileOf(name.segment)));
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
  EXPECT_TRUE(IsFilledWith(slot, 100, 7));
  EXPECT_TRUE(TryOpen(name).ok()) << "this process has it mapped";
  EXPECT_TRUE(slot.segment()->Reclaim().ok());
  EXPECT_TRUE(IsFilledWith(slot, 100, 7));
}

// The lines of /proc/self/maps that name the file.
int CountMappings(SegmentName name) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(FileOf(name)) != std::string::npos;
  }
  return count;
}

TEST(SegmentTest, AMappingStaysUntilTheMakerClosesTheSegmentAndNothingIsHeld) {
  ChildProcess owner([](Channel& parent) {
    while (true) {
      const SlotHold slot = Make();
      parent.Send(slot.name());
      parent.Receive<char>();
    }
  });
  const auto name = owner.Receive<SlotName>();
  SlotHold slot = *SlotHold::Open(name);
  BytesOf(slot)[0] = 1;
  slot = SlotHold();
  EXPECT_GE(CountMappings(name.segment), 1);  // 1 if the table and the data happen to adjoin
  slot = *SlotHold::Open(name);
  owner.Send('x');
  EXPECT_TRUE(TryOpen(owner.Receive<SlotName>()).ok());
  EXPECT_GE(CountMappings(name.segment), 1);
  EXPECT_TRUE(TryOpen(name).ok()) << "still held here";
  slot = SlotHold();
  owner.Send('x');
  EXPECT_TRUE(TryOpen(owner.Receive<SlotName>()).ok());
  EXPECT_EQ(CountMappings(name.segment), 0);
}

TEST(SegmentTest, ALinkInThePlaceOfTheFileIsNotFollowed) {
  ChildProcess child(&OpenWhenTold), second(&OpenWhenTold);
  const SlotHold slot = Make();
  child.Send(slot.name());
  EXPECT_EQ(child.Receive<std::string>(), "");
  const std::string path = FileOf(slot.name().segment), moved = path + ".moved";
  ASSERT_EQ(rename(path.c_str(), moved.c_str()), 0);
  ASSERT_EQ(symlink(moved.c_str(), path.c_str()), 0);
  second.Send(slot.name());
  EXPECT_THAT(second.Receive<std::string>(), HasSubstr("can't be opened"));
  unlink(moved.c_str());
}

TEST(SegmentTest, AFileOfAnotherUserIsRefused) {
  ChildProcess child(&OpenWhenTold);
  const SlotHold slot = Make();
  if (chown(FileOf(slot.name().segment).c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root may give files away";
  }
  child.Send(slot.name());
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("belongs to another user"));
}

TEST(SegmentTest, TheMemoryOfAProcessThatHasEndedIsNotOpened) {
  ChildProcess owner([](Channel& parent) {
    const SlotHold slot = Make();
    parent.Send(slot.name());
    pause();
  });
  const auto name = owner.Receive<SlotName>();
  owner.Kill();
  // Another process may have unlinked the file meanwhile.
  EXPECT_THAT(std::string(TryOpen(name).message()), HasSubstr("has released it, or has ended"));
  UnlinkLeftBehind();
}

TEST(SegmentTest, MoreThanThereIsRoomForIsAnError) {
  for (const size_t nbytes : {size_t{1} << 50, SIZE_MAX, SIZE_MAX - 5000}) {
    const absl::Status s = Segment::Create(nbytes).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
  }
  const std::shared_ptr<Segment> segment = *Segment::Create(10 * kGranuleBytes);
  for (const size_t nbytes : {10 * kGranuleBytes + 1, size_t{1} << 50, SIZE_MAX}) {
    const absl::Status s = segment->Allocate(nbytes).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
    EXPECT_TRUE(Segment::IsFull(s)) << s;
  }
  EXPECT_EQ(segment->Allocate(10 * kGranuleBytes)->nbytes(), 10 * kGranuleBytes);
}

TEST(SegmentTest, AForkedChildUnlinksNothing) {
  SlotHold slot = Make();
  const std::string path = FileOf(slot.name().segment);
  ChildProcess child([&](Channel& parent) {
    slot = SlotHold();
    parent.Send(IsThere(path));
  });
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_TRUE(IsThere(path));
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
