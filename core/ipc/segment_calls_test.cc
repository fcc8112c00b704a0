// Each system call of making, opening, borrowing and releasing segments fails once, and the process
// is killed before each. What is left is what docs/ipc.md says.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/core/testing/private_shared_memory.h"
#include "dovetail/core/testing/system_call_fault.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using Files = std::set<std::string>;

// No other process has made memory in the /dev/shm of `body`.
void Alone(const std::function<void()>& body) {
  if (!SystemCallFault::kWorks) GTEST_SKIP() << "ThreadSanitizer needs libc's functions";
  InPrivateSharedMemory("size=8m", body);
}

int OpenFiles() {
  int count = 0;
  for (int file = 0; file < 200; ++file) count += fcntl(file, F_GETFD) >= 0;
  return count;
}

// A segment's life in the process that makes it.
bool Own(SegmentKind kind) {
  absl::StatusOr<std::shared_ptr<Segment>> made = Segment::Create(kind, 5000);
  if (!made.ok()) return false;
  static_cast<char*>((*made)->data())[4999] = 1;
  bool whole = (*made)->can_be_opened();
  if (kind == SegmentKind::kDeviceBlock) {
    if ((*made)->Borrow().ok()) (*made)->Return();
    whole &= (*made)->Close();
  }
  return whole;
}

// And in a process that opens it.
bool UseOf(SegmentName name) {
  absl::StatusOr<std::shared_ptr<Segment>> opened = Segment::Open(name, SegmentKind::kDeviceBlock);
  if (!opened.ok() || !(*opened)->Borrow().ok()) return false;
  const bool read = static_cast<char*>((*opened)->data())[4999] == 7;
  (*opened)->Return();
  return read;
}

// Calls use() in new processes, the first killed before its first system call, the second before
// its second, …, the last not killed; then check() in this process. Returns the number of those
// killed.
int KillAtEachCall(const std::function<void()>& use, const std::function<void()>& check) {
  for (int allowed = 0;; ++allowed) {
    const pid_t child = fork();
    if (child == 0) {
      {
        const SystemCallFault kill_at(allowed, SystemCallFault::kKill);
        use();
      }
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    check();
    if (!WIFSIGNALED(status)) return allowed;
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
  }
}

TEST(SegmentCalls, AnOwnerKilledAtAnyCallLeavesWhatTheNextProcessUnlinks) {
  for (const SegmentKind kind : {SegmentKind::kHostMemory, SegmentKind::kDeviceBlock}) {
    Alone([kind] {
      const int killed = KillAtEachCall([kind] { Own(kind); },
                                        [] {
                                          EXPECT_LE(SharedMemoryFiles().size(), 2u);
                                          UnlinkLeftBehind();
                                          EXPECT_EQ(SharedMemoryFiles(), Files());
                                        });
      EXPECT_GE(killed, 9);
    });
  }
}

// The next process makes room by itself.
TEST(SegmentCalls, OwnersKilledOneAfterAnotherDoNotFillTheFolder) {
  Alone([] {
    for (int i = 0; i < 40; ++i) {
      ChildProcess owner([](Channel& parent) {
        const auto made = Segment::Create(SegmentKind::kHostMemory, 5 << 20);
        parent.Send(made.ok());
        pause();
      });
      EXPECT_TRUE(owner.Receive<bool>()) << i;
      owner.Kill();
    }
    EXPECT_EQ(SharedMemoryFiles().size(), 2u);
  });
}

TEST(SegmentCalls, AProcessKilledWhileItUnlinksWhatOthersLeftLeavesTheRest) {
  Alone([] {
    const auto leave_three = [] {
      const pid_t owner = fork();
      if (owner == 0) {
        for (int i = 0; i < 3; ++i) new auto(Segment::Create(SegmentKind::kHostMemory, 1));
        kill(getpid(), SIGKILL);
      }
      waitpid(owner, nullptr, 0);
    };
    const int killed = KillAtEachCall([&] { UnlinkLeftBehind(); },
                                      [&] {
                                        UnlinkLeftBehind();
                                        EXPECT_EQ(SharedMemoryFiles(), Files());
                                        leave_three();
                                        EXPECT_EQ(SharedMemoryFiles().size(), 4u);
                                      });
    EXPECT_GE(killed, 2);
  });
}

TEST(SegmentCalls, ABorrowerKilledAtAnyCallCountsNoMoreAndTakesNothing) {
  Alone([] {
    // The first child is forked before this process has memory of its own.
    ChildProcess owner([](Channel& parent) {
      while (true) {
        {
          const auto s = *Segment::Create(SegmentKind::kDeviceBlock, 5000);
          static_cast<char*>(s->data())[4999] = 7;
          parent.Send(s->name());
          parent.Receive<char>();  // the borrower has ended
          const bool is_back = s->Close();
          const bool is_whole = static_cast<char*>(s->data())[4999] == 7 && s->can_be_opened();
          parent.Send(is_back && is_whole);
        }
        UnlinkLeftBehind();
        parent.Send(SharedMemoryFiles().size());
      }
    });
    SegmentName name = owner.Receive<SegmentName>();
    const int killed = KillAtEachCall([&] { UseOf(name); },
                                      [&] {
                                        owner.Send('x');
                                        EXPECT_TRUE(owner.Receive<bool>());
                                        EXPECT_EQ(owner.Receive<size_t>(), 1u);  // .alive
                                        name = owner.Receive<SegmentName>();
                                      });
    EXPECT_GE(killed, 8);
    EXPECT_TRUE(UseOf(name));
  });
}

TEST(SegmentCalls, ACallThatFailsIsAnErrorThatLeavesNothing) {
  for (const int error : {ENOSPC, EMFILE, ENOMEM, EACCES, EINTR}) {
    for (const SegmentKind kind : {SegmentKind::kHostMemory, SegmentKind::kDeviceBlock}) {
      Alone([=] {
        Own(kind);  // makes this process's token
        const int files = OpenFiles();
        int failed = 0;
        for (bool done = false; !done; ++failed) {
          {
            const SystemCallFault fault(failed, error);
            Own(kind);
            done = !SystemCallFault::happened();
          }
          EXPECT_EQ(OpenFiles(), files) << failed;
          UnlinkMySegments();  // a file whose unlink() failed stays until then
          EXPECT_EQ(SharedMemoryFiles().size(), 1u) << failed;
          EXPECT_TRUE(Own(kind)) << failed;
        }
        EXPECT_GE(failed, 4);
      });
    }
  }
}

TEST(SegmentCalls, AFirstCallThatFailsLeavesAProcessThatCanShareLater) {
  for (const int error : {ENOSPC, EMFILE, EINTR, ENOSYS}) {
    Alone([error] {
      for (int allowed = 0; allowed < 12; ++allowed) {
        const pid_t child = fork();
        if (child == 0) {
          const int files = OpenFiles();
          {
            const SystemCallFault fault(allowed, error);
            Own(SegmentKind::kHostMemory);
          }
          EXPECT_LE(OpenFiles(), files + 1);  // the file of the token stays open
          EXPECT_TRUE(Own(SegmentKind::kHostMemory));
          _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0) << allowed;
        UnlinkLeftBehind();
        EXPECT_EQ(SharedMemoryFiles(), Files()) << allowed;
      }
    });
  }
}

TEST(SegmentCalls, ABorrowersCallThatFailsLeavesNothingBorrowed) {
  for (const int error : {EMFILE, ENOMEM, EACCES, EINTR}) {
    Alone([error] {
      ChildProcess owner([](Channel& parent) {
        const auto s = *Segment::Create(SegmentKind::kDeviceBlock, 5000);
        static_cast<char*>(s->data())[4999] = 7;
        parent.Send(s->name());
        parent.Receive<char>();
        parent.Send(s->Close());
      });
      const auto name = owner.Receive<SegmentName>();
      EXPECT_TRUE(UseOf(name));
      const int files = OpenFiles();
      int failed = 0;
      for (bool done = false; !done; ++failed) {
        {
          const SystemCallFault fault(failed, error);
          UseOf(name);
          done = !SystemCallFault::happened();
        }
        EXPECT_EQ(OpenFiles(), files) << failed;
        EXPECT_TRUE(UseOf(name)) << failed;
      }
      EXPECT_GE(failed, 6);
      owner.Send('x');
      EXPECT_TRUE(owner.Receive<bool>());
    });
  }
}

TEST(SegmentCalls, WhoeverOpensItMeanwhileHasTheSameMapping) {
  Alone([] {
    ChildProcess owner([](Channel& parent) {
      const auto s = *Segment::Create(SegmentKind::kHostMemory, 5000);
      parent.Send(s->name());
      parent.Receive<char>();
    });
    const auto name = owner.Receive<SegmentName>();
    const auto open = [name] { return *Segment::Open(name, SegmentKind::kHostMemory); };
    int calls = 0;
    for (bool reached = true; reached; ++calls) {
      std::shared_ptr<Segment> meanwhile, opened;
      {
        const AtSystemCall other(calls, [&] { meanwhile = open(); });
        opened = open();
        reached = AtSystemCall::happened();
      }
      if (!reached) break;
      EXPECT_EQ(opened, meanwhile) << calls;
      // The mapping that came too late is gone, and the other one is still known.
      EXPECT_EQ(open(), opened) << calls;
      EXPECT_EQ(Segment::FindAt(opened->data()), opened) << calls;
      EXPECT_EQ(opened.use_count(), 2) << calls;
    }
    EXPECT_GE(calls, 5);
    owner.Send('x');
  });
}

// As kernels before 6 did, the reservation of pages gives up if a signal can arrive meanwhile.
TEST(SegmentCalls, NoSignalInterruptsTheReservationOfPages) {
  Alone([] {
    const SignalsInterruptReservations older_kernel;
    alarm(10);
    EXPECT_TRUE(Own(SegmentKind::kHostMemory));
  });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
