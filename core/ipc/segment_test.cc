// With real processes: each child is forked before it uses anything of this package.

#include "dovetail/core/ipc/segment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::inline DOVETAIL_ABI::ipc {
namespace {

using testing::HasSubstr;

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }
std::string PathOf(SegmentName name) {
  return FileName(name.process, absl::StrCat(absl::Hex(name.number)));
}
std::shared_ptr<Segment> Make(size_t nbytes = 100, SegmentKind kind = SegmentKind::kHostMemory) {
  absl::StatusOr<std::shared_ptr<Segment>> made = Segment::Create(kind, nbytes);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

// A process of its own that runs `work` with two pipes; it lives until it is told to end.
class Child {
 public:
  using Work = std::function<void(int in, int out)>;

  explicit Child(const Work& work) {
    int to[2], from[2];
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(to[1]);
      close(from[0]);
      work(to[0], from[1]);
      _exit(0);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  ~Child() {
    Kill();
    close(to_);
    close(from_);
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  template <typename T>
  void Send(const T& value) {
    EXPECT_EQ(write(to_, &value, sizeof value), static_cast<ssize_t>(sizeof value));
  }
  template <typename T>
  T Receive() {
    T value{};
    EXPECT_EQ(read(from_, &value, sizeof value), static_cast<ssize_t>(sizeof value));
    return value;
  }

 private:
  pid_t pid_;
  int to_, from_;
};

template <typename T>
T Read(int file) {
  T value{};
  if (read(file, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) _exit(1);
  return value;
}
template <typename T>
void Write(int file, const T& value) {
  if (write(file, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) _exit(1);
}

// Opens what it is told of, borrows it, answers whether it could, and again each time it is asked.
void BorrowWhenTold(int in, int out) {
  while (true) {
    const auto name = Read<SegmentName>(in);
    absl::StatusOr<std::shared_ptr<Segment>> s = Segment::Open(name, SegmentKind::kDeviceBlock);
    Write(out, s.ok() && (*s)->Borrow().ok());
    Read<char>(in);
    if (s.ok()) (*s)->Return();
    Write(out, true);
  }
}

TEST(ProcessTokenTest, AProcessIsKnownToLiveUntilItIsKilled) {
  Child child([](int, int out) {
    Write(out, MyProcess().value_or(ProcessToken{}));
    pause();
  });
  const auto token = child.Receive<ProcessToken>();
  EXPECT_NE(token, ProcessToken{});
  EXPECT_TRUE(IsAlive(token));
  child.Kill();
  EXPECT_FALSE(IsAlive(token));
  EXPECT_TRUE(IsThere(FileName(token, "alive")));
  EXPECT_GE(UnlinkLeftBehind(), 1);
  EXPECT_FALSE(IsThere(FileName(token, "alive")));
}

TEST(ProcessTokenTest, ATokenIsOfOneProcessAndNoChild) {
  const ProcessToken mine = *MyProcess();
  EXPECT_EQ(*MyProcess(), mine);
  Child child([mine](int, int out) {
    Write(out, MyProcess().value_or(mine));
    pause();
  });
  EXPECT_NE(child.Receive<ProcessToken>(), mine);
  EXPECT_FALSE(IsAlive(ProcessToken{12345}));
}

// The lock belongs to the open file, which a child has as well.
TEST(ProcessTokenTest, AChildThatLivesOnDoesNotKeepItsParentAlive) {
  Child parent([](int, int out) {
    Write(out, MyProcess().value_or(ProcessToken{}));
    if (fork() == 0) {
      Write(out, getpid());
      pause();
    }
    pause();
  });
  const auto token = parent.Receive<ProcessToken>();
  const auto grandchild = parent.Receive<pid_t>();
  parent.Kill();
  EXPECT_FALSE(IsAlive(token));
  kill(grandchild, SIGKILL);
  UnlinkLeftBehind();
}

TEST(ProcessTokenTest, WhatIsNotLeftBehindIsNotUnlinked) {
  const std::shared_ptr<Segment> mine = Make();
  Child child([](int, int out) {
    const std::shared_ptr<Segment> s = *Segment::Create(SegmentKind::kHostMemory, 1);
    Write(out, s->name());
    pause();
  });
  const auto name = child.Receive<SegmentName>();
  UnlinkLeftBehind();
  EXPECT_TRUE(IsThere(PathOf(mine->name())));
  EXPECT_TRUE(IsThere(PathOf(name)));
  child.Kill();
  EXPECT_GE(UnlinkLeftBehind(), 2);
  EXPECT_FALSE(IsThere(PathOf(name)));
}

TEST(SegmentTest, AnotherProcessWritesToTheSameMemory) {
  Child child([](int in, int out) {
    const auto s = *Segment::Open(Read<SegmentName>(in), SegmentKind::kHostMemory);
    Write(out, static_cast<char*>(s->data())[99]);
    static_cast<char*>(s->data())[0] = 5;
    Write(out, s->nbytes());
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

TEST(SegmentTest, WhatIsGoneIsAnErrorThatSaysSo) {
  const SegmentName name = Make()->name();
  const absl::Status s = Segment::Open(name, SegmentKind::kHostMemory).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("has released it, or has ended"));
}

TEST(SegmentTest, MoreThanThereIsRoomForIsAnError) {
  for (const size_t nbytes : {size_t{1} << 50, SIZE_MAX, SIZE_MAX - 5000}) {
    const absl::Status s = Segment::Create(SegmentKind::kHostMemory, nbytes).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
  }
}

TEST(SegmentTest, WhoClosesItLearnsOfOtherProcessesThatBorrowed) {
  Child child(&BorrowWhenTold);
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
  Child child(&BorrowWhenTold);
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
    Child child(&BorrowWhenTold);
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

// The places in the head are limited; those of the dead are used again.
TEST(SegmentTest, ManyProcessesBorrowOneAfterAnother) {
  const std::shared_ptr<Segment> s = Make(8, SegmentKind::kDeviceBlock);
  for (int i = 0; i < Segment::kMostBorrowers + 10; ++i) {
    Child child(&BorrowWhenTold);
    child.Send(s->name());
    ASSERT_TRUE(child.Receive<bool>()) << i;
  }
  EXPECT_TRUE(s->Close());
  UnlinkLeftBehind();
}

TEST(SegmentTest, AForkedChildUnlinksNothing) {
  std::shared_ptr<Segment> s = Make();
  const std::string path = PathOf(s->name());
  Child child([&](int, int out) {
    s.reset();
    Write(out, IsThere(path));
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
}  // namespace dovetail::inline DOVETAIL_ABI::ipc
