// Kills a process between any two instructions of its work on a segment. Afterwards the memory of
// the other processes is unchanged, and they can allocate what the killed process held.

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "dovetail/core/ipc/segment.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr size_t kNbytes = 64 * kGranuleBytes;
constexpr size_t kSlot = 3 * kGranuleBytes;

// Lets a forked child run prepare(), and then work() for `steps` instructions before it is killed.
// False if work() had ended by then.
bool KillAfter(int64_t steps, const std::function<void()>& prepare,
               const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    prepare();
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSTOPPED(status)) << "the child did not get so far";
  bool is_running = WIFSTOPPED(status);
  for (int64_t i = 0; i < steps && is_running; ++i) {
    ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    is_running = WIFSTOPPED(status);
  }
  if (!is_running) return false;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

bool CanTrace() {
  const pid_t child = fork();
  if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

class KilledAnywhere : public testing::Test {
 protected:
  void SetUp() override {
    if (!CanTrace()) GTEST_SKIP() << "no process may trace another here";
  }

  // Kills children after 0, stride, 2 * stride, … instructions of work(), and checks what is left
  // each time. A thousand kills take 20 s. DOVETAIL_EVERY_INSTRUCTION=1 in the environment (of
  // Bazel: --test_env) makes the stride 1, for some twenty minutes in all.
  void KillAtEachStep(int64_t stride, const std::function<void()>& prepare,
                      const std::function<void()>& work) {
    if (std::getenv("DOVETAIL_EVERY_INSTRUCTION") != nullptr) stride = 1;
    int64_t steps = 0;
    while (KillAfter(steps, prepare, work)) {
      Check(steps);
      if (HasFailure()) return;
      steps += stride;
    }
    EXPECT_GT(steps, 50 * stride);
    RecordProperty("instructions", static_cast<int>(steps));
  }

  // The slot that this process has is whole, and everything else can be had.
  void Check(int64_t steps) {
    // (What it forked ends by itself.)
    for (int i = 0; i < 5000 && segment_->Stats()->holders.size() != 1; ++i) usleep(1000);
    const char* mine = static_cast<const char*>(*mine_.Data());
    for (size_t i = 0; i < kSlot; ++i) ASSERT_EQ(mine[i], 'm') << steps;
    ASSERT_FALSE(mine_.IsHeldByOthers(/*thorough=*/true)) << steps;
    absl::StatusOr<SlotHold> again = SlotHold::Open(mine_.name());
    ASSERT_TRUE(again.ok()) << steps;
    {
      absl::StatusOr<SlotHold> rest = segment_->Allocate(kNbytes - kSlot);
      ASSERT_TRUE(rest.ok()) << "after " << steps << " instructions: " << rest.status();
      std::memset(*rest->Data(), 'r', rest->nbytes());
    }
    const PoolStats stats = *segment_->Stats();
    ASSERT_EQ(stats.used_slots, 1u) << steps;
    ASSERT_EQ(stats.holders.size(), 1u) << steps;
  }

  std::shared_ptr<Segment> segment_ = *Segment::Create(kNbytes);
  SlotHold mine_ = [this] {
    SlotHold hold = *segment_->Allocate(kSlot);
    std::memset(*hold.Data(), 'm', kSlot);
    return hold;
  }();
};

// Joined, and with the mapping of the data, so that what follows needs no system call.
void WarmUp(Segment& segment) {
  const SlotHold hold = *segment.Allocate(kSlot);
  static_cast<char*>(*hold.Data())[0] = 'w';
}

TEST_F(KilledAnywhere, WhileItTakesAFreeSlotAndDropsIt) {
  KillAtEachStep(
      5, [this] { WarmUp(*segment_); }, [this] { (void)segment_->Allocate(kSlot).ok(); });
}

TEST_F(KilledAnywhere, WhileItOpensAndDropsASlotOfAnother) {
  const SlotName name = mine_.name();
  KillAtEachStep(
      5,
      [&] {
        WarmUp(*segment_);
        mine_ = SlotHold();  // the child's own, from the fork
      },
      [&] { (void)SlotHold::Open(name).ok(); });
}

TEST_F(KilledAnywhere, WhileItDropsTheLastHold) {
  SlotHold last;
  KillAtEachStep(5, [&] { last = *segment_->Allocate(kSlot); }, [&] { last = SlotHold(); });
}

TEST_F(KilledAnywhere, WhileItOpensAStaleName) {
  SlotName name = mine_.name();
  --name.generation;
  KillAtEachStep(
      5, [&] { mine_ = SlotHold(), WarmUp(*segment_); }, [&] { (void)SlotHold::Open(name).ok(); });
}

TEST_F(KilledAnywhere, WhileItTakesNewMemory) {
  KillAtEachStep(
      13, [this] { WarmUp(*segment_); },
      [this] { (void)segment_->Allocate(20 * kGranuleBytes).ok(); });
}

TEST_F(KilledAnywhere, WhileItSplitsAndMergesAndReclaims) {
  KillAtEachStep(
      83,
      [this] {
        // Full, with free slots in between, so that splitting needs merging first.
        std::vector<SlotHold> holds;
        while (true) {
          absl::StatusOr<SlotHold> hold = segment_->Allocate(4 * kGranuleBytes);
          if (!hold.ok()) break;
          holds.push_back(*std::move(hold));
        }
      },
      [this] { (void)segment_->Allocate(21 * kGranuleBytes).ok(); });
}

TEST_F(KilledAnywhere, WhileItSendsMessagesAndOpensThem) {
  SlotHold slot;
  SlotName name = {};
  const auto send = [&] {
    slot = *segment_->Allocate(kSlot);
    name = *slot.AddMessages(2);
    slot = SlotHold();
  };
  const auto open = [&] {
    const absl::StatusOr<SlotHold> there = SlotHold::Open(name);
    if (there.ok()) there->TakeMessages(name);
  };
  KillAtEachStep(5, [&] { WarmUp(*segment_), send(); }, open);
  KillAtEachStep(
      97, [&] { WarmUp(*segment_), send(), open(); }, [&] { open(), send(), open(), open(); });
}

// The child that it may have made by then ends at once.
TEST_F(KilledAnywhere, WhileItForks) {
  KillAtEachStep(
      5, [this] { WarmUp(*segment_); },
      [] {
        const pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, nullptr, 0);
      });
}

TEST_F(KilledAnywhere, WhileItJoins) {
  KillAtEachStep(13, [] {}, [this] { (void)segment_->Allocate(kSlot).ok(); });
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
