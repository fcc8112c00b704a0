// The Releaser over drivers that fail, captures that it was not told of, and slow devices.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "dovetail/core/testing/private_shared_memory.h"
#include "dovetail/devices/gpu/memory/testing/releaser_fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

using emulator::Function;
using testing::ElementsAre;
using testing::IsEmpty;

class ReleaserFaultsTest : public ReleaserTest {
 protected:
  // Drains until the thread that waits for the devices is done, and `number` blocks wait.
  void DrainUntilWaiting(int number) {
    for (int i = 0; i < 10'000 && releaser().waiting() != number; ++i) {
      releaser().Drain();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(releaser().waiting(), number);
  }
  // Returns once that thread has called the driver.
  void WaitForAWaitForADevice() {
    for (int i = 0; i < 10'000 && gpu().counts().device_synchronizes == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

// ---- Events ----

// Rule 50.
TEST_F(ReleaserFaultsTest, AStreamWhoseEventCannotBeRecordedCountsAsUnknown) {
  const Stream a = MakeStream(), b = MakeStream();
  Work(a), Work(b);
  memory.takes_after = true;
  for (const Function function : {Function::kEventRecord, Function::kStreamCaptureStatus}) {
    gpu().ResetCounts();
    gpu().Fail(function, ResultClass::kOther);
    releaser().Push(Block(1, {a, b}));
    releaser().Drain();
    EXPECT_EQ(gpu().counts().context_event_records, 1);
    gpu().Fail(function, ResultClass::kOk);
  }
  EXPECT_THAT(memory.after, ElementsAre(1, 1));
}

// Rule 50.
TEST_F(ReleaserFaultsTest, AnEventThatCannotBeAskedHasNotHappened) {
  const Stream a = MakeStream();
  Work(a);
  releaser().Push(Block(1, {a}));
  gpu().Fail(Function::kEventQuery, ResultClass::kOther);
  releaser().Drain();
  Run(a);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  gpu().Fail(Function::kEventQuery, ResultClass::kOk);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// Rule 50.
TEST_F(ReleaserFaultsTest, WithoutAnEventOverADeviceAThreadWaitsForTheDevices) {
  for (const Function function : {Function::kEventCreate, Function::kContextRecordEvent}) {
    Start({});
    Work(MakeStream(1));
    gpu().Fail(function, ResultClass::kOther);
    releaser().Push(UnknownBlock(1));
    releaser().Drain();
    EXPECT_EQ(releaser().waiting(), 1);
    DrainUntilWaiting(0);
    EXPECT_EQ(gpu().counts().device_synchronizes, 1) << "the other device was not used";
  }
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 1));
}

// ---- Devices ----

// Rule 50.
TEST_F(ReleaserFaultsTest, WhatADeviceThatCannotBeWaitedForMayUseComesBackByAFlushThatCan) {
  for (const Function function : {Function::kDeviceSynchronize, Function::kPushDevice}) {
    Start({});
    memory.reclaimed.clear();
    Work(MakeStream());
    gpu().Fail(Function::kContextRecordEvent, ResultClass::kOther);
    gpu().Fail(function, ResultClass::kOther);
    releaser().Push(UnknownBlock(1));
    releaser().Drain();
    releaser().Flush();
    EXPECT_EQ(releaser().waiting(), 1);
    gpu().ResetCounts();
    releaser().Drain();
    EXPECT_EQ(gpu().counts().total, 0) << "a drain does not try again";
    EXPECT_THAT(memory.reclaimed, IsEmpty());
    gpu().Fail(function, ResultClass::kOk);
    releaser().Flush();
    EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  }
}

// Rule 50.
TEST_F(ReleaserFaultsTest, AfterAFlushThatCouldWaitDrainsCoverUnknownWorkAgain) {
  Work(MakeStream());
  gpu().Fail(Function::kContextRecordEvent, ResultClass::kOther);
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kCaptureViolation);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  WaitForAWaitForADevice();
  gpu().Fail(Function::kContextRecordEvent, ResultClass::kOk);
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kOk);
  releaser().Flush();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  releaser().Push(UnknownBlock(2));
  gpu().ResetCounts();
  releaser().Drain();
  EXPECT_EQ(gpu().counts().context_event_records, 1);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2));
}

TEST_F(ReleaserFaultsTest, AFailedWaitIsNotTriedAgainBeforeAFlush) {
  Start({.has_context_events = false});
  Work(MakeStream());
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kCaptureViolation);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  WaitForAWaitForADevice();
  for (int i = 0; i < 1000; ++i) {
    releaser().Drain();
    std::this_thread::yield();
  }
  EXPECT_EQ(gpu().counts().device_synchronizes, 1);
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kOk);
}

TEST_F(ReleaserFaultsTest, ADeviceThatIsInACaptureIsNotWaitedForByAThread) {
  Work(MakeStream());
  gpu().Fail(Function::kContextRecordEvent, ResultClass::kCaptureViolation);
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kCaptureViolation);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  releaser().Flush();
  EXPECT_EQ(gpu().counts().device_synchronizes, 1) << "by the flush";
  gpu().Fail(Function::kDeviceSynchronize, ResultClass::kOk);
}

// The end of a backend whose driver fails only for a while.
TEST_F(ReleaserFaultsTest, WhatIsAbandonedGoesToNoAllocator) {
  const Stream a = MakeStream();
  Work(a);
  auto hold = std::make_shared<NotedHold>();
  std::unique_ptr<Uses> held = Block(1);
  held->AddEvent(Events::OfHold(device(), hold));
  releaser().Push(std::move(held));
  releaser().Push(UnknownBlock(2));
  releaser().Push(Block(3, {a}));
  for (const Function function :
       {Function::kDeviceSynchronize, Function::kEventSynchronize, Function::kEventQuery}) {
    gpu().Fail(function, ResultClass::kOther);
  }
  releaser().Flush();
  EXPECT_EQ(releaser().waiting(), 3);
  releaser().Abandon();
  for (const Function function :
       {Function::kDeviceSynchronize, Function::kEventSynchronize, Function::kEventQuery}) {
    gpu().Fail(function, ResultClass::kOk);
  }
  hold->over = true;
  releaser().Flush();
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  EXPECT_THAT(memory.after, IsEmpty());
  EXPECT_EQ(releaser().waiting(), 0);
}

// ---- Captures ----

// Rules 49, 50.
TEST_F(ReleaserFaultsTest, ACaptureThatIsSeenAmongTheUsesIsNotBroken) {
  const Stream a = MakeStream(), b = MakeStream();
  gpu().BeginCapture(a.native(), 0);
  releaser().Push(Block(1, {a, b}));
  releaser().Drain();
  EXPECT_EQ(gpu().counts().context_event_records, 0);
  EXPECT_EQ(releaser().waiting(), 1);
  EXPECT_TRUE(gpu().EndCapture(a.native(), 0));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// Rules 49, 50.
TEST_F(ReleaserFaultsTest, UnknownWorkBesideACapturedStreamWaitsForTheEndOfTheCapture) {
  const Stream a = MakeStream();
  gpu().BeginCapture(a.native(), 0);
  std::unique_ptr<Uses> uses = UnknownBlock(1);
  uses->AddStream(a, UseKind::kWork);
  releaser().Push(std::move(uses));
  releaser().Drain();
  releaser().Flush();
  EXPECT_EQ(gpu().counts().context_event_records, 0);
  EXPECT_EQ(gpu().counts().device_synchronizes, 0);
  EXPECT_EQ(releaser().waiting(), 1);
  EXPECT_TRUE(gpu().EndCapture(a.native(), 0));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// Rules 49, 50.
TEST_F(ReleaserFaultsTest, WhatComesAfterMemoryOfACapturedStreamWaitsToo) {
  const NativeStream blocking = gpu().MakeStream(0, /*blocking=*/true);
  const Stream a = Stream::Own(device(), blocking, std::make_shared<int>());
  (void)MakeStream();
  gpu().BeginCapture(blocking, 0);
  releaser().Push(Block(1, {a}));
  releaser().Push(Block(2, {Stream::Default(device())}));
  releaser().Drain();
  releaser().Flush();
  EXPECT_EQ(releaser().waiting(), 2);
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  EXPECT_TRUE(gpu().EndCapture(blocking, 0));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2)) << "the stream is asked again";
}

// Rules 49, 50.
TEST_F(ReleaserFaultsTest, AtItsEndMemoryOfACapturedStreamIsLeaked) {
  const Stream a = MakeStream();
  gpu().BeginCapture(a.native(), 0);
  releaser().Push(Block(1, {a}));
  releaser().Flush();
  releaser().Abandon();
  End();
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  EXPECT_TRUE(gpu().EndCapture(a.native(), 0));
}

// ---- The thread that waits for devices ----

// Holds the next wait for a device until the test opens it.
struct Gate {
  absl::Notification entered, open;
};
Gate* next_gate = nullptr;

class ReleaserThreadTest : public ReleaserFaultsTest {
 protected:
  void StartWith(Gate& gate) {
    next_gate = &gate;
    Start({.has_context_events = false}, [](RuntimeApi& api) {
      api.device_synchronize = [](void*) -> Result {
        if (Gate* const passed = std::exchange(next_gate, nullptr); passed != nullptr) {
          passed->entered.Notify();
          passed->open.WaitForNotification();
        }
        return 0;
      };
    });
    (void)MakeStream();  // the device is used
  }
};

// Rule 50.
TEST_F(ReleaserThreadTest, MemoryThatComesDuringAWaitForTheDevicesWaitsForTheNext) {
  Gate first;
  StartWith(first);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  EXPECT_EQ(releaser().waiting(), 1);
  first.entered.WaitForNotification();
  releaser().Push(UnknownBlock(2));
  releaser().Drain();
  EXPECT_EQ(releaser().waiting(), 2);
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  first.open.Notify();
  DrainUntilWaiting(1);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1)) << "the second came after that wait had begun";
  DrainUntilWaiting(0);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2));
}

// Rule 50.
TEST_F(ReleaserThreadTest, AFlushWaitsForTheThreadThatWaitsForTheDevices) {
  Gate first;
  StartWith(first);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  first.entered.WaitForNotification();
  std::thread opener([&] { first.open.Notify(); });
  releaser().Flush();
  opener.join();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

TEST_F(ReleaserThreadTest, AChildThatIsForkedMeanwhileCanEnd) {
  Gate first;
  StartWith(first);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  first.entered.WaitForNotification();
  InChild([this] { End(); });
  first.open.Notify();
  DrainUntilWaiting(0);
}

// The limit does not hold for root.
TEST_F(ReleaserThreadTest, IfNoThreadCanBeStartedTheNextDrainTriesAgain) {
  InChild([this] {
    Start({.has_context_events = false});
    (void)MakeStream();
    ASSERT_TRUE(geteuid() != 0 || setuid(12345) == 0);
    struct rlimit limit;
    ASSERT_EQ(getrlimit(RLIMIT_NPROC, &limit), 0);
    const rlim_t before = std::exchange(limit.rlim_cur, 1);
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
    releaser().Push(UnknownBlock(1));
    for (int i = 0; i < 3; ++i) releaser().Drain();
    EXPECT_EQ(releaser().waiting(), 1);
    EXPECT_EQ(gpu().counts().device_synchronizes, 0);
    limit.rlim_cur = before;
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
    DrainUntilWaiting(0);
    EXPECT_EQ(gpu().counts().device_synchronizes, 1);
    EXPECT_THAT(memory.reclaimed, ElementsAre(1));
    End();
  });
}

}  // namespace
}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
