// What other users, and other processes of this user, can do to segments.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
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
      make(FileOf(name));
      const absl::Status s = TryOpen({name, 0, 1});
      EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << s;
    }
    const size_t count = SharedMemoryFiles().size();
    EXPECT_EQ(UnlinkLeftBehind(), 0);
    EXPECT_EQ(SharedMemoryFiles().size(), count);
    EXPECT_TRUE(TryMake().ok());
  });
}

// Names are listed for all users, who can make entries with names that are still to come.
TEST(SegmentTrust, EntriesThatWereThereBeforeAreNotInTheWay) {
  InPrivateMemory([] {
    const ProcessToken mine = *MyProcess();
    for (uint64_t number = 1; number <= 20; ++number) {
      HostileEntries()[number % HostileEntries().size()](FileOf({mine, number}));
    }
    for (int i = 0; i < 10; ++i) {
      const absl::Status s = TryMake().status();
      EXPECT_TRUE(s.ok()) << s;
    }
  });
}

// Opens slots of host memory that the parent names, each in a new process, since a process opens a
// file once. Answers with the error.
void OpenWhenTold(Channel& parent) {
  while (true) {
    const auto name = parent.Receive<SlotName>();
    const pid_t opener = fork();
    if (opener == 0) {
      parent.Send(std::string(TryOpen(name).message()));
      _exit(0);
    }
    waitpid(opener, nullptr, 0);
  }
}

TEST(SegmentTrust, AHeadThatWasWrittenOverIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const SlotHold slot = *TryMake();
  char* const head = reinterpret_cast<char*>(&slot.segment()->head());
  for (const size_t field : {offsetof(SegmentFacts, magic), offsetof(SegmentFacts, name),
                             offsetof(SegmentFacts, name) + 8}) {
    head[field] ^= 1;
    other.Send(slot.name());
    EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was written over")) << field;
    head[field] ^= 1;
    other.Send(slot.name());
    EXPECT_EQ(other.Receive<std::string>(), "");
  }
}

TEST(SegmentTrust, ASizeThatIsNotTheFilesIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const SlotHold slot = *TryMake();
  uint64_t& granules = slot.segment()->head().facts.granules;
  const uint64_t before = granules;
  for (const uint64_t wrong : {uint64_t{0}, before + 1, uint64_t{1} << 36, (uint64_t{1} << 36) + 1,
                               uint64_t{1} << 52, uint64_t{1} << 58, ~uint64_t{0}}) {
    granules = wrong;
    other.Send(slot.name());
    EXPECT_THAT(other.Receive<std::string>(), HasSubstr("not what its head says")) << wrong;
  }
  granules = before;
}

TEST(SegmentTrust, AFileThatWasGivenAnotherNameIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const SlotHold slot = *TryMake();
  SlotName renamed = slot.name();
  renamed.segment.number ^= 2;
  const std::string path = FileOf(slot.name().segment), other_path = FileOf(renamed.segment);
  ASSERT_EQ(rename(path.c_str(), other_path.c_str()), 0);
  other.Send(renamed);
  EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was written over"));
  ASSERT_EQ(rename(other_path.c_str(), path.c_str()), 0);
}

TEST(SegmentTrust, AFileShorterThanAHeadIsRefused) {
  ChildProcess other(&OpenWhenTold);
  const SlotHold slot = *TryMake();
  SlotName name = slot.name();
  name.segment.number ^= 2;
  SegmentFacts facts = slot.segment()->head().facts;
  facts.name = name.segment;
  const std::string path = FileOf(name.segment);
  const int file = *MakeFile(PathOf(name.segment));
  for (const size_t size : {size_t{0}, size_t{8}, sizeof facts - 1, sizeof facts}) {
    ASSERT_EQ(ftruncate(file, 0), 0);
    ASSERT_EQ(pwrite(file, &facts, size, 0), static_cast<ssize_t>(size));
    other.Send(name);
    EXPECT_THAT(other.Receive<std::string>(), HasSubstr("was never whole")) << size;
  }
  close(file);
  unlink(path.c_str());
}

// Whatever is in the table, an opener reads nothing outside, and gets only what is a slot.
TEST(SegmentTrust, NamesOfWhatIsNoSlotAreRefused) {
  ChildProcess other(&OpenWhenTold);
  const std::shared_ptr<Segment> segment = *Segment::Create(20 * kGranuleBytes);
  const SlotHold slot = *segment->Allocate(3 * kGranuleBytes);
  for (const uint64_t wrong : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{19}, uint64_t{20},
                               uint64_t{1} << 39, ~uint64_t{0}}) {
    for (const uint64_t generation : {uint64_t{0}, slot.name().generation}) {
      SlotName name = slot.name();
      name.slot = wrong;
      name.generation = generation;
      other.Send(name);
      EXPECT_THAT(other.Receive<std::string>(), HasSubstr("has released it")) << wrong;
      EXPECT_FALSE(TryOpen(name).ok()) << "in this process, too: " << wrong;
    }
  }
}

TEST(SegmentTrust, ADescriptorOfWhatIsNoMemoryIsRefused) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const int null = open("/dev/null", O_RDWR), folder = open("/tmp", O_RDONLY);
  const int empty = memfd_create("empty", MFD_CLOEXEC);
  for (const int file : {-1, 12345, pipes[0], null, folder, empty}) {
    const absl::Status s = Segment::Attach(file).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << file << ": " << s;
  }
  const std::string zeros(1 << 20, '\0');
  ASSERT_EQ(write(empty, zeros.data(), zeros.size()), static_cast<ssize_t>(zeros.size()));
  EXPECT_THAT(std::string(Segment::Attach(empty).status().message()),
              HasSubstr("no memory of this"));
  for (const int file : {pipes[0], pipes[1], null, folder, empty}) close(file);
}

TEST(SegmentTrust, AnotherProcessOpensNoOtherKind) {
  ChildProcess other(&OpenWhenTold);
  const SlotHold block = *TryMake(8, SegmentKind::kDeviceBlocks);
  other.Send(block.name());
  EXPECT_THAT(other.Receive<std::string>(), HasSubstr("another kind of device"));
}

// Files of other programs, whose names only begin alike.
TEST(SegmentTrust, FilesWithOtherNamesAreLeft) {
  InPrivateMemory([] {
    const std::string prefix = "/dev/shm/dovetail.3.", digits = "0123456789abcdef";
    std::vector<std::string> paths = {prefix, "/dev/shm/dovetail",
                                      "/dev/shm/dovetail." + digits + ".1"};
    for (const std::string& end :
         {digits.substr(1), digits, digits + "-alive", digits + ".alive", digits + "x1",
          "g" + digits.substr(1) + ".1", digits + "." + digits + "0",
          digits + "." + std::string(200, 'a')}) {
      paths.push_back(prefix + end);
    }
    for (const std::string& path : paths) close(open(path.c_str(), O_CREAT | O_RDWR, 0600));
    // Segments of a process that has ended, with the least and the most digits.
    close(open((prefix + digits + ".1").c_str(), O_CREAT | O_RDWR, 0600));
    close(open((prefix + digits + "." + std::string(16, 'f')).c_str(), O_CREAT | O_RDWR, 0600));
    ASSERT_EQ(SharedMemoryFiles().size(), paths.size() + 2);
    EXPECT_EQ(UnlinkLeftBehind(), 2);
    EXPECT_TRUE(TryMake().ok());
    for (const std::string& path : paths) EXPECT_EQ(access(path.c_str(), F_OK), 0) << path;
  });
}

TEST(SegmentTrust, NamesCantBeGuessed) {
  int large = 0;
  for (int i = 0; i < 32; ++i) large += TryMake()->name().segment.number > uint64_t{1} << 32;
  EXPECT_GE(large, 31);  // 64 random bits
  EXPECT_GT(static_cast<uint64_t>(*MyProcess()), uint64_t{1} << 32);
}

// Whoever opens a file with a lease waits until its holder gives it up, for up to 45 s.
TEST(SegmentTrust, AFileWithALeaseIsNotWaitedFor) {
  InPrivateMemory([] {
    const SegmentName name{*MyProcess(), 1'000'000};
    ChildProcess other([&](Channel& parent) {
      signal(SIGIO, SIG_IGN);
      const int file = open(FileOf(name).c_str(), O_CREAT | O_RDWR, 0666);
      fchmod(file, 0666);
      if (fcntl(file, F_SETLEASE, F_WRLCK) != 0) _exit(1);
      parent.Send(true);
      parent.Receive<char>();
    });
    if (!other.Receive<bool>()) return;
    alarm(10);
    EXPECT_EQ(TryOpen({name, 0, 1}).code(), absl::StatusCode::kFailedPrecondition);
    UnlinkLeftBehind();
    alarm(0);
    other.Send('x');
    EXPECT_EQ(other.Join(), 0);
  });
}

TEST(SegmentTrust, AnotherUserCanNeitherOpenNorCutNorUnlinkIt) {
  InPrivateMemory(
      [] {
        ChildProcess other([](Channel& parent) {
          BecomeTheOtherUser();
          const auto name = parent.Receive<SlotName>();
          const std::string path = FileOf(name.segment);
          EXPECT_THAT(std::string(TryOpen(name).message()), HasSubstr("Permission denied"));
          EXPECT_NE(truncate(path.c_str(), 0), 0);
          EXPECT_NE(unlink(path.c_str()), 0);
          EXPECT_NE(link(path.c_str(), "/dev/shm/link"), 0);
          EXPECT_TRUE(TryMake().ok());  // it shares memory of its own
          _exit(testing::Test::HasFailure() ? 1 : 0);
        });
        const SlotHold slot = *TryMake();
        other.Send(slot.name());
        EXPECT_EQ(other.Join(), 0);
        EXPECT_EQ(access(FileOf(slot.name().segment).c_str(), F_OK), 0);
        // What the other user left is not unlinked by this one, even if it may.
        const size_t count = SharedMemoryFiles().size();
        EXPECT_EQ(UnlinkLeftBehind(), 0);
        EXPECT_EQ(SharedMemoryFiles().size(), count);
      },
      "size=2m,mode=1777");
}

// A limit of mapped files: an access beyond their end is a SIGBUS. Only this user can cut the file.
TEST(SegmentTrust, AFileWhoseDataAreCutEndsWhoReadsThemButNotWhoDropsThem) {
  for (const bool reads : {true, false}) {
    ChildProcess reader([reads](Channel& parent) {
      const SlotHold slot = *SlotHold::Open(parent.Receive<SlotName>());
      const volatile char* data = BytesOf(slot);
      parent.Send(true);
      parent.Receive<char>();
      signal(SIGBUS, SIG_DFL);  // not a sanitizer's handler
      if (reads) _exit(*data);
    });
    SlotHold slot = *TryMake();
    reader.Send(slot.name());
    reader.Receive<bool>();
    const size_t data = SegmentParts(slot.segment()->head().facts.granules).data;
    ASSERT_EQ(truncate(FileOf(slot.name().segment).c_str(), static_cast<off_t>(data)), 0);
    reader.Send('x');
    const int status = reader.Join();
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, reads ? SIGBUS : 0);
    EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
    slot = SlotHold();
  }
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
