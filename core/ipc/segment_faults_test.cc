// What /dev/shm and the limits of a process can do to segments.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <thread>
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
    const std::shared_ptr<Segment> s = *TryMake(kMiB);
    for (int i = 0; i < 3; ++i) {
      const absl::Status full = TryMake(kMiB).status();
      EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
      EXPECT_THAT(std::string(full.message()), HasSubstr("--shm-size"));
    }
    EXPECT_EQ(SharedMemoryFiles().size(), 2u);  // s and .alive
    for (size_t i = 0; i < s->nbytes(); ++i) static_cast<char*>(s->data())[i] = 1;
    EXPECT_TRUE(TryMake(kMiB / 2).ok());
  });
}

TEST(SegmentFaults, AFolderWithoutRoomForAnotherFileIsAnError) {
  InPrivateMemory([] {
    std::vector<std::shared_ptr<Segment>> all;
    absl::StatusOr<std::shared_ptr<Segment>> made = TryMake();
    for (; made.ok() && all.size() < 100; made = TryMake()) all.push_back(*made);
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
    EXPECT_TRUE(TryMake(kMiB - 4096).ok()) << "as large as a file may be, with its head";
    EXPECT_FALSE(TryMake(kMiB - 4095).ok());
  });
}

TEST(SegmentFaults, ALimitOfTheAddressSpaceIsAnErrorForMakerAndBorrower) {
  InChild([] {
    const std::shared_ptr<Segment> s = *TryMake(64 * kMiB);
    ChildProcess borrower([name = s->name()](Channel& parent) {
      parent.Receive<char>();
      const struct rlimit limit = {kMiB, kMiB};  // less than is in use
      setrlimit(RLIMIT_AS, &limit);
      const std::shared_ptr<Segment> parents = Segment::FindAt(nullptr);
      parent.Send(static_cast<int>(TryOpen(name).code()));
      parent.Send(static_cast<int>(TryMake(64 * kMiB).status().code()));
    });
    borrower.Send('x');
    EXPECT_EQ(borrower.Receive<int>(), 0);  // a forked child has its parent's mapping
    EXPECT_EQ(borrower.Receive<int>(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  });
}

TEST(SegmentFaults, WithoutDescriptorsMakingAndOpeningAreErrorsThatPass) {
  ChildProcess owner([](Channel& parent) {
    const std::shared_ptr<Segment> s = *TryMake();
    parent.Send(s->name());
    parent.Receive<char>();
  });
  const auto name = owner.Receive<SegmentName>();
  InChild([name] {
    const std::shared_ptr<Segment> before = *TryMake();
    const struct rlimit limit = {64, 64};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::vector<int> files;
    for (int file; (file = dup(0)) >= 0;) files.push_back(file);
    const std::string make(TryMake().status().message()), open(TryOpen(name).message());
    EXPECT_TRUE(TryOpen(before->name()).ok());
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

TEST(SegmentFaults, AThousandAtOnceAreMadeOpenedAndReleased) {
  InPrivateMemory(
      [] {
        ChildProcess borrower([](Channel& parent) {
          const size_t files = SharedMemoryFiles().size();
          std::vector<std::shared_ptr<Segment>> all;
          for (int i = 0; i < 1000; ++i) {
            all.push_back(*Segment::Open(parent.Receive<SegmentName>(), SegmentKind::kHostMemory));
          }
          int sum = 0;
          for (const auto& s : all) sum += *static_cast<int*>(s->data());
          parent.Send(sum);
          parent.Send(files);
        });
        std::vector<std::shared_ptr<Segment>> all;
        for (int i = 0; i < 1000; ++i) {
          all.push_back(*TryMake());
          *static_cast<int*>(all.back()->data()) = i;
        }
        EXPECT_EQ(SharedMemoryFiles().size(), 1001u);
        for (const auto& s : all) borrower.Send(s->name());
        EXPECT_EQ(borrower.Receive<int>(), 999 * 1000 / 2);
        borrower.Receive<size_t>();
        EXPECT_EQ(borrower.Join(), 0);
        all.clear();
        EXPECT_EQ(SharedMemoryFiles().size(), 1u);  // .alive
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
    EXPECT_EQ(SharedMemoryFiles().size(), 4u);  // two segments, two .alive
    survivor.Send('x');
    EXPECT_EQ(survivor.Join(), 0);
    EXPECT_EQ(SharedMemoryFiles().size(), 0u);
  });
}

TEST(SegmentFaults, AChildOfABorrowerReturnsNothing) {
  InPrivateMemory([] {
    const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kDeviceBlock, 8);
    ASSERT_TRUE(s->Borrow().ok());
    const size_t files = SharedMemoryFiles().size();
    ChildProcess child([&](Channel& parent) {
      s->Return();
      parent.Send(SharedMemoryFiles().size());
    });
    EXPECT_EQ(child.Receive<size_t>(), files) << "it made files of its own";
    EXPECT_FALSE(s->Close());
    s->Return();
    EXPECT_TRUE(s->Close());
  });
}

// A child has none of its parent's threads, and would wait forever for a lock that one of them had.
TEST(SegmentFaults, AChildForkedWhileThreadsBorrowAndMakeCanDoSo) {
  InChild([] {
    std::atomic<bool> stop = false;
    const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kDeviceBlock, 8);
    std::thread borrower([&] {
      while (!stop) {
        if (s->Borrow().ok()) s->Return();
      }
    });
    std::thread maker([&] {
      while (!stop) (void)TryMake().ok();
    });
    for (int round = 0; round < 50; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        _exit(s->Borrow().ok() && TryMake().ok() ? 0 : 1);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    stop = true;
    borrower.join();
    maker.join();
    UnlinkLeftBehind();
  });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
