// What /dev/shm and the limits of a process can do to segments.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/core/testing/private_shared_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

constexpr size_t kMiB = 1 << 20;

TEST(SegmentFaults, AFullFolderIsAnErrorAndLeavesNothing) {
  InPrivateMemory([] {
    const SlotHold slot = *TryMake(kMiB);
    for (int i = 0; i < 3; ++i) {
      const absl::Status full = TryMake(kMiB).status();
      EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
      EXPECT_THAT(std::string(full.message()), HasSubstr("--shm-size"));
    }
    EXPECT_EQ(SharedMemoryFiles().size(), 1u);
    std::memset(BytesOf(slot), 1, kMiB);
    EXPECT_TRUE(TryMake(kMiB / 2).ok());
  });
}

// The segment has room, and the folder has no pages.
TEST(SegmentFaults, AFullFolderLeavesASegmentsOtherSlotsAsTheyAre) {
  InPrivateMemory([] {
    const std::shared_ptr<Segment> segment = *Segment::Create(8 * kMiB);
    SlotHold slot = *segment->Allocate(kMiB);
    FillWith(slot, kMiB, 1);
    for (int i = 0; i < 3; ++i) {
      const absl::Status full = segment->Allocate(kMiB).status();
      EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
      EXPECT_THAT(std::string(full.message()), HasSubstr("--shm-size"));
    }
    EXPECT_TRUE(IsFilledWith(slot, kMiB, 1));
    EXPECT_EQ(segment->reserved_bytes(), kMiB);
    slot = SlotHold();
    slot = *segment->Allocate(kMiB);
    std::memset(BytesOf(slot), 1, kMiB);
    EXPECT_TRUE(segment->Allocate(kMiB / 2).ok());
  });
}

TEST(SegmentFaults, AFolderWithoutRoomForAnotherFileIsAnError) {
  InPrivateMemory([] {
    std::vector<SlotHold> all;
    absl::StatusOr<SlotHold> made = TryMake();
    for (; made.ok() && all.size() < 100; made = TryMake()) all.push_back(*std::move(made));
    EXPECT_THAT(std::string(made.status().message()), HasSubstr("No space left"));
    all.clear();
    EXPECT_TRUE(TryMake().ok());
  });
  InPrivateMemory([] {
    while (open(absl::StrCat("/dev/shm/", SharedMemoryFiles().size()).c_str(), O_CREAT, 0600) >=
           0) {
    }
    EXPECT_EQ(TryMake().status().code(), absl::StatusCode::kUnavailable);
  });
}

// Without the test, the signal SIGXFSZ would end the process.
TEST(SegmentFaults, ALimitOfFileSizesIsAnError) {
  InChild([] {
    const struct rlimit limit = {kMiB, kMiB};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(TryMake(kMiB).status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(TryMake(kMiB / 2).ok());
    uint64_t most = 1;
    while (SegmentParts(most + 1).nbytes <= kMiB) ++most;
    EXPECT_TRUE(TryMake(most * kGranuleBytes).ok()) << "as large as a file may be";
    EXPECT_FALSE(TryMake(most * kGranuleBytes + 1).ok());
  });
}

TEST(SegmentFaults, ALimitOfTheAddressSpaceIsAnErrorForMakerAndOpener) {
  InChild([] {
    const SlotHold slot = *TryMake(64 * kMiB);
    ChildProcess child([&](Channel& parent) {
      parent.Receive<char>();
      const struct rlimit limit = {kMiB, kMiB};  // less than is in use
      setrlimit(RLIMIT_AS, &limit);
      parent.Send(static_cast<int>(TryOpen(slot.name()).code()));
      parent.Send(static_cast<int>(slot.Data().status().code()));
      parent.Send(static_cast<int>(TryMake(64 * kMiB).status().code()));
    });
    child.Send('x');
    EXPECT_EQ(child.Receive<int>(), 0);  // a forked child has its parent's mappings
    EXPECT_EQ(child.Receive<int>(), 0);
    EXPECT_EQ(child.Receive<int>(), static_cast<int>(absl::StatusCode::kResourceExhausted));
    BytesOf(slot)[0] = 1;
  });
}

TEST(SegmentFaults, WithoutDescriptorsMakingAndOpeningAreErrorsThatPass) {
  ChildProcess owner([](Channel& parent) {
    const SlotHold slot = *TryMake();
    parent.Send(slot.name());
    parent.Receive<char>();
  });
  const auto name = owner.Receive<SlotName>();
  InChild([name] {
    const SlotHold before = *TryMake();
    const struct rlimit limit = {64, 64};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::vector<int> files;
    for (int file; (file = dup(0)) >= 0;) files.push_back(file);
    const std::string make(TryMake().status().message()), open(TryOpen(name).message());
    EXPECT_TRUE(TryOpen(before.name()).ok());
    for (const int file : files) close(file);  // UndefinedBehaviorSanitizer needs descriptors, too
    EXPECT_THAT(make, HasSubstr("Too many open files"));
    EXPECT_THAT(open, HasSubstr("Too many open files"));
    EXPECT_TRUE(TryOpen(name).ok());
    EXPECT_TRUE(TryMake().ok());
  });
}

// The system gives up a reservation of pages when a signal comes, and takes the pages back.
TEST(SegmentFaults, SignalsAThousandTimesASecondDoNotKeepItFromBeingMade) {
  struct sigaction action = {};  // without SA_RESTART
  action.sa_handler = [](int) {};
  ChildProcess child([&](Channel& parent) {
    sigaction(SIGUSR1, &action, nullptr);
    parent.Send(true);
    for (int i = 0; i < 2; ++i) {
      if (!TryMake(256 * kMiB).ok()) _exit(1);
    }
    _exit(0);
  });
  child.Receive<bool>();
  int status = -1;
  for (int i = 0; i < 20'000 && waitpid(child.pid(), &status, WNOHANG) == 0; ++i) {
    kill(child.pid(), SIGUSR1);
    usleep(300);
  }
  EXPECT_EQ(status, 0) << "it was not made in 6 s";
}

TEST(SegmentFaults, ManyAtOnceAreMadeOpenedAndReleased) {
  constexpr int kCount = 300;  // each has a descriptor
  InPrivateMemory(
      [] {
        ChildProcess opener([](Channel& parent) {
          std::vector<SlotHold> all;
          for (int i = 0; i < kCount; ++i) {
            all.push_back(*SlotHold::Open(parent.Receive<SlotName>()));
          }
          int sum = 0;
          for (const SlotHold& slot : all) sum += *reinterpret_cast<int*>(BytesOf(slot));
          parent.Send(sum);
        });
        std::vector<SlotHold> all;
        for (int i = 0; i < kCount; ++i) {
          all.push_back(*TryMake());
          *reinterpret_cast<int*>(BytesOf(all.back())) = i;
        }
        EXPECT_EQ(SharedMemoryFiles().size(), size_t{kCount});
        for (const SlotHold& slot : all) opener.Send(slot.name());
        EXPECT_EQ(opener.Receive<int>(), (kCount - 1) * kCount / 2);
        EXPECT_EQ(opener.Join(), 0);
        all.clear();
        EXPECT_EQ(SharedMemoryFiles().size(), 0u);
      },
      "size=64m");
}

TEST(SegmentFaults, AProcessThatExitsWhileItsThreadsMakeSegmentsLeavesNone) {
  InPrivateMemory(
      [] {
        for (int round = 0; round < 40; ++round) {
          const pid_t child = fork();
          if (child == 0) {
            for (int i = 0; i < 3; ++i) {
              std::thread([] {
                while (true) (void)TryMake().ok();
              }).detach();
            }
            usleep(2000);
            std::exit(0);
          }
          int status = -1;
          waitpid(child, &status, 0);
          EXPECT_EQ(status, 0);
          const std::set<std::string> left = SharedMemoryFiles();
          ASSERT_TRUE(left.empty()) << left.size() << " files, such as " << *left.begin();
        }
      },
      "size=64m");
}

// A program that was started before its workers were killed is often the last of its user.
TEST(SegmentFaults, AProcessThatExitsUnlinksWhatKilledProcessesLeft) {
  InPrivateMemory([] {
    ChildProcess survivor([](Channel& parent) {
      const auto own = TryMake();
      parent.Send(own.ok());
      parent.Receive<char>();
      std::exit(0);
    });
    EXPECT_TRUE(survivor.Receive<bool>());
    ChildProcess killed([](Channel& parent) {
      const auto lost = TryMake();
      parent.Send(lost.ok());
      pause();
    });
    EXPECT_TRUE(killed.Receive<bool>());
    killed.Kill();
    EXPECT_EQ(SharedMemoryFiles().size(), 2u);
    survivor.Send('x');
    EXPECT_EQ(survivor.Join(), 0);
    EXPECT_EQ(SharedMemoryFiles().size(), 0u);
  });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
