// Each system call of making, opening, holding and releasing memory fails once, and the process
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
#include "dovetail/core/ipc/segments_for_tests.h"
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

// What is made and opened, and how.
struct Made {
  SegmentKind kind;
  SegmentBacking backing;
};
constexpr Made kEach[] = {{SegmentKind::kHostMemory, SegmentBacking::kNamed},
                          {SegmentKind::kDeviceBlocks, SegmentBacking::kNamed},
                          {SegmentKind::kHostMemory, SegmentBacking::kAnonymous}};
constexpr Made kHost = kEach[0];

// A segment's life in the process that makes it.
bool Own(Made how) {
  absl::StatusOr<std::shared_ptr<Segment>> made =
      Segment::Create(20 * kGranuleBytes, how.kind, how.backing);
  if (!made.ok()) return false;
  absl::StatusOr<SlotHold> slot = (*made)->Allocate(5000);
  if (!slot.ok() || !slot->Data().ok()) return false;
  BytesOf(*slot)[4999] = 1;
  bool is_whole = SlotHold::Open(slot->name(), how.kind).ok();
  is_whole &= (*made)->Allocate(3 * kGranuleBytes).ok();
  slot->Renew();
  is_whole &= !slot->HasOtherHolds() && !slot->IsHeldByOthers(/*thorough=*/true);
  return is_whole;
}

// And in a process that opens it.
bool UseOf(const SlotName& name) {
  absl::StatusOr<SlotHold> slot = SlotHold::Open(name, SegmentKind::kDeviceBlocks);
  return slot.ok() && slot->Data().ok() && BytesOf(*slot)[4999] == 7;
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
  for (const Made how : kEach) {
    Alone([how] {
      const int killed = KillAtEachCall([how] { Own(how); },
                                        [] {
                                          EXPECT_LE(SharedMemoryFiles().size(), 1u);
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
        const auto made = TryMake(5 << 20);
        parent.Send(made.ok());
        pause();
      });
      EXPECT_TRUE(owner.Receive<bool>()) << i;
      owner.Kill();
    }
    EXPECT_EQ(SharedMemoryFiles().size(), 1u);
  });
}

TEST(SegmentCalls, AProcessKilledWhileItUnlinksWhatOthersLeftLeavesTheRest) {
  Alone([] {
    const auto leave_three = [] {
      const pid_t owner = fork();
      if (owner == 0) {
        for (int i = 0; i < 3; ++i) new auto(TryMake(1));
        kill(getpid(), SIGKILL);
      }
      waitpid(owner, nullptr, 0);
    };
    const int killed = KillAtEachCall([&] { UnlinkLeftBehind(); },
                                      [&] {
                                        UnlinkLeftBehind();
                                        EXPECT_EQ(SharedMemoryFiles(), Files());
                                        leave_three();
                                        EXPECT_EQ(SharedMemoryFiles().size(), 3u);
                                      });
    EXPECT_GE(killed, 2);
  });
}

TEST(SegmentCalls, AnOpenerKilledAtAnyCallHoldsNothingAndTakesNothing) {
  Alone([] {
    // The first child is forked before this process has memory of its own.
    ChildProcess owner([](Channel& parent) {
      while (true) {
        {
          const SlotHold slot = *TryMake(5000, SegmentKind::kDeviceBlocks);
          BytesOf(slot)[4999] = 7;
          parent.Send(slot.name());
          parent.Receive<char>();  // the opener has ended
          const bool is_back = !slot.IsHeldByOthers(/*thorough=*/true);
          const bool is_whole =
              BytesOf(slot)[4999] == 7 && access(FileOf(slot.name().segment).c_str(), F_OK) == 0;
          parent.Send(is_back && is_whole);
        }
        UnlinkLeftBehind();
        parent.Send(SharedMemoryFiles().size());
      }
    });
    SlotName name = owner.Receive<SlotName>();
    const int killed = KillAtEachCall([&] { UseOf(name); },
                                      [&] {
                                        owner.Send('x');
                                        EXPECT_TRUE(owner.Receive<bool>());
                                        EXPECT_EQ(owner.Receive<size_t>(), 0u);
                                        name = owner.Receive<SlotName>();
                                      });
    EXPECT_GE(killed, 8);
    EXPECT_TRUE(UseOf(name));
  });
}

TEST(SegmentCalls, ACallThatFailsIsAnErrorThatLeavesNothing) {
  for (const int error : {ENOSPC, EMFILE, ENOMEM, EACCES, EINTR}) {
    for (const Made how : kEach) {
      Alone([=] {
        EXPECT_TRUE(Own(kHost));  // makes this process's token
        const int files = OpenFiles();
        int failed = 0;
        for (bool done = false; !done; ++failed) {
          {
            const SystemCallFault fault(failed, error);
            Own(how);
            done = !SystemCallFault::happened();
          }
          EXPECT_EQ(OpenFiles(), files) << failed;
          UnlinkMySegments();  // a file whose unlink() failed stays until then
          EXPECT_EQ(SharedMemoryFiles(), Files()) << failed;
          EXPECT_TRUE(Own(how)) << failed;
        }
        EXPECT_GE(failed, 10);
      });
    }
  }
}

TEST(SegmentCalls, AFirstCallThatFailsLeavesAProcessThatCanShareLater) {
  for (const int error : {ENOSPC, EMFILE, EINTR, ENOSYS}) {
    Alone([error] {
      for (int allowed = 0; allowed < 20; ++allowed) {
        const pid_t child = fork();
        if (child == 0) {
          const int files = OpenFiles();
          {
            const SystemCallFault fault(allowed, error);
            Own(kHost);
          }
          EXPECT_EQ(OpenFiles(), files);
          EXPECT_TRUE(Own(kHost));
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

// Each in a new process, since a process opens a file once, and keeps its descriptor.
TEST(SegmentCalls, AnOpenersCallThatFailsLeavesNothingOpen) {
  for (const int error : {EMFILE, ENOMEM, EACCES, EINTR}) {
    Alone([error] {
      ChildProcess owner([](Channel& parent) {
        const SlotHold slot = *TryMake(5000, SegmentKind::kDeviceBlocks);
        BytesOf(slot)[4999] = 7;
        parent.Send(slot.name());
        parent.Receive<char>();
        parent.Send(!slot.IsHeldByOthers(/*thorough=*/false));
      });
      const auto name = owner.Receive<SlotName>();
      int failed = 0;
      for (bool done = false; !done; ++failed) {
        ChildProcess opener([&](Channel& parent) {
          const int files = OpenFiles();
          {
            const SystemCallFault fault(failed, error);
            UseOf(name);
            parent.Send(!SystemCallFault::happened());
          }
          EXPECT_LE(OpenFiles(), files + 1) << failed;
          EXPECT_TRUE(UseOf(name)) << failed;
          EXPECT_EQ(OpenFiles(), files + 1) << failed;
          _exit(testing::Test::HasFailure() ? 1 : 0);
        });
        done = opener.Receive<bool>();
        EXPECT_EQ(opener.Join(), 0);
      }
      EXPECT_GE(failed, 6);
      owner.Send('x');
      EXPECT_TRUE(owner.Receive<bool>());
    });
  }
}

// As kernels before 6 did, the reservation of pages gives up if a signal can arrive meanwhile.
TEST(SegmentCalls, NoSignalInterruptsTheReservationOfPages) {
  Alone([] {
    const SignalsInterruptReservations older_kernel;
    alarm(10);
    EXPECT_TRUE(Own(kHost));
  });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
