// What other users, and other processes of this user, can do to segments.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

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

constexpr uid_t kOtherUser = 12345;

void BecomeTheOtherUser() {
  ASSERT_EQ(setgid(kOtherUser), 0);
  ASSERT_EQ(setuid(kOtherUser), 0);
}

// Entries of every kind that is not the file itself.
std::vector<std::function<void(const std::string& path)>> HostileEntries() {
  return {
      [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0666), 0); },
      [](const std::string& path) { ASSERT_EQ(mkdir(path.c_str(), 0777), 0); },
      [](const std::string& path) { ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0); },
      [](const std::string& path) { ASSERT_EQ(symlink("/nowhere", path.c_str()), 0); },
      [](const std::string& path) { ASSERT_EQ(mknod(path.c_str(), S_IFCHR | 0666, 0x105), 0); },
      [](const std::string& path) {
        const int file = open(path.c_str(), O_CREAT | O_RDWR, 0666);
        ASSERT_EQ(ftruncate(file, 1 << 16), 0);
        ASSERT_EQ(fchown(file, kOtherUser, kOtherUser), 0);
        ASSERT_EQ(fchmod(file, 0666), 0);
        close(file);
      },
  };
}

TEST(SegmentTrust, WhateverHasTheNameIsRefusedAtOnce) {
  InPrivateMemory([] {
    const ProcessToken mine = *MyProcess();
    uint64_t number = 1'000'000;
    for (const auto& make : HostileEntries()) {
      const SegmentName name{mine, ++number};
      make(PathOf(name));
      const absl::Status s = TryOpen(name);
      EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << s;
      // Neither is it taken for another process that lives or has left something.
      make(FilePath(ProcessToken{number}, "alive").c_str());
      IsAlive(ProcessToken{number});
    }
    const size_t count = SharedMemoryFiles().size();
    UnlinkLeftBehind();
    // The FIFO, the links and the device are this user's own.
    EXPECT_GE(SharedMemoryFiles().size(), count - 4);
    EXPECT_TRUE(TryMake().ok());
  });
}

// Names are listed for all users, who can make entries with names that are still to come.
TEST(SegmentTrust, EntriesThatWereThereBeforeAreNotInTheWay) {
  InPrivateMemory([] {
    const ProcessToken mine = *MyProcess();
    for (uint64_t number = 1; number <= 20; ++number) {
      HostileEntries()[number % HostileEntries().size()](PathOf({mine, number}));
    }
    for (int i = 0; i < 10; ++i) {
      const absl::Status s = TryMake().status();
      EXPECT_TRUE(s.ok()) << s;
    }
  });
}

// Opens segments of host memory that the parent names, and answers with the error.
void OpenWhenTold(Channel& parent) {
  while (true) {
    parent.Send(std::string(TryOpen(parent.Receive<SegmentName>()).message()));
  }
}

TEST(SegmentTrust, AHeadThatWasWrittenOverIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const std::shared_ptr<Segment> s = *TryMake();
  char* const head = static_cast<char*>(s->data()) - 4096;
  for (const int field : {0, 24, 32}) {  // the magic number, the process, the segment's number
    head[field] ^= 1;
    other.Send(s->name());
    EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was written over")) << field;
    head[field] ^= 1;
    other.Send(s->name());
    EXPECT_EQ(other.Receive<std::string>(), "");
  }
}

TEST(SegmentTrust, AFileThatWasGivenAnotherNameIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const std::shared_ptr<Segment> s = *TryMake();
  const SegmentName renamed{s->name().process, s->name().number ^ 1};
  ASSERT_EQ(rename(PathOf(s->name()).c_str(), PathOf(renamed).c_str()), 0);
  other.Send(renamed);
  EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was written over"));
  ASSERT_EQ(rename(PathOf(renamed).c_str(), PathOf(s->name()).c_str()), 0);
}

// With its size as the head of a file shorter than a head would have it: below 0.
TEST(SegmentTrust, AFileShorterThanAHeadIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const std::shared_ptr<Segment> s = *TryMake();
  const SegmentName name{s->name().process, s->name().number ^ 1};
  constexpr size_t kShort = 100;
  const uint64_t nbytes = uint64_t{kShort} - 4096;
  char head[kShort];
  std::memcpy(head, static_cast<char*>(s->data()) - 4096, sizeof head);
  std::memcpy(head + 16, &nbytes, sizeof nbytes);
  std::memcpy(head + 32, &name.number, sizeof name.number);
  const std::string path = PathOf(name);
  const int file = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(write(file, head, sizeof head), static_cast<ssize_t>(sizeof head));
  close(file);
  other.Send(name);
  EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was never whole"));
  unlink(path.c_str());
}

// Entries of the head, as living processes fill them.
TEST(SegmentTrust, TheEntriesOfLivingBorrowersAreNotTakenAndThoseOfDeadOnesStartAnew) {
  ChildProcess child([](Channel& parent) {
    parent.Send(MyProcess().value_or(ProcessToken{}));
    parent.Receive<char>();
  });
  const auto living = static_cast<uint64_t>(child.Receive<ProcessToken>());
  const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kDeviceBlock, 8);
  char* const borrowers = static_cast<char*>(s->data()) - 4096 + 64;
  for (int i = 0; i < Segment::kMostBorrowers; ++i) {
    const uint64_t entry[] = {living, 5};
    std::memcpy(borrowers + i * sizeof entry, entry, sizeof entry);
  }
  EXPECT_EQ(s->Borrow().code(), absl::StatusCode::kResourceExhausted);
  child.Kill();
  ASSERT_TRUE(s->Borrow().ok());
  EXPECT_FALSE(s->Close());
  s->Return();
  EXPECT_TRUE(s->Close());
  UnlinkLeftBehind();
}

TEST(SegmentTrust, AnotherProcessOpensNoOtherKind) {
  ChildProcess other(&OpenWhenTold);
  const std::shared_ptr<Segment> block = *Segment::Create(SegmentKind::kDeviceBlock, 8);
  other.Send(block->name());
  EXPECT_THAT(other.Receive<std::string>(), HasSubstr("another kind of device"));
}

// Files of other programs, whose names only begin alike.
TEST(SegmentTrust, FilesWithOtherNamesAreLeft) {
  InPrivateMemory([] {
    const std::string prefix = "/dev/shm/dovetail.", digits = "0123456789abcdef";
    std::vector<std::string> paths = {prefix, "/dev/shm/dovetail"};
    for (const std::string& end :
         {digits.substr(1), digits, digits + "-alive", digits + "x1", "g" + digits.substr(1) + ".1",
          digits + "." + digits + "0", digits + "." + std::string(200, 'a')}) {
      paths.push_back(prefix + end);
    }
    for (const std::string& path : paths) close(open(path.c_str(), O_CREAT | O_RDWR, 0600));
    // Segments of a process that has ended, with the least and the most digits.
    close(open((prefix + digits + ".1").c_str(), O_CREAT | O_RDWR, 0600));
    close(open((prefix + digits + "." + digits).c_str(), O_CREAT | O_RDWR, 0600));
    ASSERT_EQ(SharedMemoryFiles().size(), paths.size() + 2);
    EXPECT_EQ(UnlinkLeftBehind(), 2);
    EXPECT_TRUE(TryMake().ok());
    for (const std::string& path : paths) EXPECT_EQ(access(path.c_str(), F_OK), 0) << path;
  });
}

TEST(SegmentTrust, NamesCantBeGuessed) {
  int large = 0;
  for (int i = 0; i < 32; ++i) large += (*TryMake())->name().number > uint64_t{1} << 32;
  EXPECT_GE(large, 31);  // 64 random bits
  EXPECT_GT(static_cast<uint64_t>(*MyProcess()), uint64_t{1} << 32);
}

// Whoever opens a file with a lease waits until its holder gives it up, for up to 45 s.
TEST(SegmentTrust, AFileWithALeaseIsNotWaitedFor) {
  InPrivateMemory([] {
    const SegmentName name{*MyProcess(), 1'000'000};
    ChildProcess other([&](Channel& parent) {
      signal(SIGIO, SIG_IGN);
      for (const std::string& path :
           {PathOf(name), std::string(FilePath(ProcessToken{77}, "alive").c_str())}) {
        const int file = open(path.c_str(), O_CREAT | O_RDWR, 0666);
        fchmod(file, 0666);
        if (fcntl(file, F_SETLEASE, F_WRLCK) != 0) _exit(1);
      }
      parent.Send(true);
      parent.Receive<char>();
    });
    if (!other.Receive<bool>()) return;
    alarm(10);
    EXPECT_EQ(TryOpen(name).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(IsAlive(ProcessToken{77}));
    UnlinkLeftBehind();
    alarm(0);
    other.Send('x');
    EXPECT_EQ(other.Join(), 0);
  });
}

TEST(SegmentTrust, AnotherUserCanNeitherOpenNorCutNorUnlinkIt) {
  InPrivateMemory(
      [] {
        std::shared_ptr<Segment> s;
        ChildProcess other([&](Channel& parent) {
          BecomeTheOtherUser();
          const auto name = parent.Receive<SegmentName>();
          const std::string path = PathOf(name);
          EXPECT_THAT(std::string(TryOpen(name).message()), HasSubstr("Permission denied"));
          EXPECT_NE(truncate(path.c_str(), 0), 0);
          EXPECT_NE(unlink(path.c_str()), 0);
          EXPECT_NE(link(path.c_str(), "/dev/shm/link"), 0);
          EXPECT_TRUE(IsAlive(name.process));
          EXPECT_TRUE(TryMake().ok());  // it shares memory of its own
          _exit(testing::Test::HasFailure() ? 1 : 0);
        });
        s = *TryMake();
        other.Send(s->name());
        EXPECT_EQ(other.Join(), 0);
        EXPECT_TRUE(s->can_be_opened());
        // What the other user left is not unlinked by this one, even if it may.
        const size_t count = SharedMemoryFiles().size();
        EXPECT_EQ(UnlinkLeftBehind(), 0);
        EXPECT_EQ(SharedMemoryFiles().size(), count);
      },
      "size=2m,mode=1777");
}

// A limit of mapped files: an access beyond their end is a SIGBUS. Only this user can cut the file.
TEST(SegmentTrust, AFileThatIsCutWhileItIsOpenEndsWhoReadsItButNotWhoReleasesIt) {
  for (const bool reads : {true, false}) {
    ChildProcess borrower([reads](Channel& parent) {
      const auto s = *Segment::Open(parent.Receive<SegmentName>(), SegmentKind::kHostMemory);
      parent.Send(true);
      parent.Receive<char>();
      signal(SIGBUS, SIG_DFL);  // not a sanitizer's handler
      if (reads) _exit(static_cast<volatile char*>(s->data())[0]);
    });
    std::shared_ptr<Segment> s = *TryMake();
    borrower.Send(s->name());
    borrower.Receive<bool>();
    ASSERT_EQ(truncate(PathOf(s->name()).c_str(), 0), 0);
    borrower.Send('x');
    const int status = borrower.Join();
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, reads ? SIGBUS : 0);
    s.reset();
  }
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
