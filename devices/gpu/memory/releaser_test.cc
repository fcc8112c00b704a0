#include "dovetail/devices/gpu/memory/releaser.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "dovetail/devices/gpu/memory/testing/releaser_fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ---- What becomes of memory, by its uses ----

TEST_F(ReleaserTest, MemoryWithoutWorkComesBackAtOnceTheOldestFirst) {
  memory.takes_in_order = memory.takes_after = true;
  for (const size_t number : {1, 2, 3}) releaser().Push(Block(number));
  EXPECT_THAT(memory.reclaimed, IsEmpty()) << "a deleter returns nothing itself";
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2, 3));
  EXPECT_THAT(memory.after, IsEmpty());
  EXPECT_EQ(releaser().waiting(), 0);
}

// Rule 50.
TEST_F(ReleaserTest, MemoryOfOneStreamComesBackInItsOrderIfTheAllocatorCan) {
  const Stream a = MakeStream();
  Work(a);
  memory.takes_in_order = memory.takes_after = true;
  releaser().Push(Block(1, {a}));
  gpu().ResetCounts();
  releaser().Drain();
  EXPECT_THAT(memory.in_order, ElementsAre(1));
  EXPECT_THAT(memory.orders, ElementsAre(a));
  EXPECT_EQ(gpu().counts().event_records, 0);
  EXPECT_EQ(releaser().waiting(), 0);
}

// Rule 50.
TEST_F(ReleaserTest, MemoryOfOneStreamElseWaitsForItsEvent) {
  const Stream a = MakeStream();
  Work(a);
  releaser().Push(Block(1, {a}));
  releaser().Drain();
  releaser().Drain();
  EXPECT_EQ(releaser().waiting(), 1);
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  Run(a);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  EXPECT_EQ(releaser().waiting(), 0);
}

// Rule 50.
TEST_F(ReleaserTest, MemoryOfSeveralStreamsWaitsForEachOfThem) {
  const Stream a = MakeStream(0), b = MakeStream(1);
  Work(a), Work(b);
  memory.takes_in_order = true;
  releaser().Push(Block(1, {a, b}));
  releaser().Drain();
  for (const Stream& stream : {b, a}) {
    EXPECT_THAT(memory.reclaimed, IsEmpty());
    Run(stream);
    releaser().Drain();
  }
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  EXPECT_THAT(memory.in_order, IsEmpty());
}

// Rule 50.
TEST_F(ReleaserTest, AnAllocatorThatTakesEventsGetsThoseOfAllStreams) {
  const Stream a = MakeStream(), b = MakeStream();
  Work(a), Work(b);
  memory.takes_in_order = memory.takes_after = true;
  std::unique_ptr<Uses> uses = Block(1, {a});
  uses->AddStream(b, UseKind::kOrder);  // a consumer there may have gone on
  uses->AddEvent(*context().events.Record(b));
  releaser().Push(std::move(uses));
  releaser().Drain();
  EXPECT_THAT(memory.after, ElementsAre(1));
  EXPECT_THAT(memory.numbers_of_events, ElementsAre(3));
  EXPECT_EQ(releaser().waiting(), 0);
}

// Rule 50.
TEST_F(ReleaserTest, AnEventAmongTheUsesIsWaitedForBesideTheStream) {
  const Stream a = MakeStream(), b = MakeStream();
  Work(b);
  memory.takes_in_order = true;
  std::unique_ptr<Uses> uses = Block(1, {a});
  uses->AddEvent(*context().events.Record(b));
  releaser().Push(std::move(uses));
  releaser().Drain();
  EXPECT_THAT(memory.in_order, IsEmpty());
  EXPECT_EQ(releaser().waiting(), 1);
  Run(b);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

TEST_F(ReleaserTest, AnEventOfACapturedGraphIsNotWaitedFor) {
  const NativeStream theirs = gpu().MakeStream(0);
  gpu().BeginCapture(theirs, 0);
  std::unique_ptr<Uses> uses = Block(1);
  uses->AddEvent(*context().events.Record(Stream::Borrow(device(), theirs)));
  EXPECT_TRUE(gpu().EndCapture(theirs, 0));
  releaser().Push(std::move(uses));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// Rule 50.
TEST_F(ReleaserTest, UnknownWorkIsCoveredByOneEventOnEachDeviceThatWasUsed) {
  const Stream a = MakeStream(0);
  Work(a);
  releaser().Push(UnknownBlock(1));
  releaser().Push(UnknownBlock(2));
  releaser().Drain();
  EXPECT_EQ(gpu().counts().context_event_records, 1);
  Run(a);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2));

  const Stream b = MakeStream(1);  // the second device is used from here on
  Work(b);
  releaser().Push(UnknownBlock(3));
  gpu().ResetCounts();
  releaser().Drain();
  EXPECT_EQ(gpu().counts().context_event_records, 2);
  EXPECT_EQ(releaser().waiting(), 1);
  Run(b);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2, 3));
}

// Access between devices, pinned and managed memory make such consumers possible.
// Rule 50.
TEST_F(ReleaserTest, UnknownWorkOnADeviceThatOnlyAnotherLibraryUsesIsWaitedForToo) {
  for (const bool has_context_events : {true, false}) {
    Start({.has_context_events = has_context_events});
    memory.reclaimed.clear();
    (void)MakeStream(0);
    const Stream theirs = Stream::Borrow(device(1), gpu().MakeStream(1));
    uint32_t word = 0;
    gpu().Hold(theirs.native(), 1, &word, 1);
    releaser().Push(UnknownBlock(1));
    gpu().ResetCounts();
    if (has_context_events) {
      releaser().Drain();
      EXPECT_EQ(gpu().counts().context_event_records, 2);
      EXPECT_THAT(memory.reclaimed, IsEmpty());
    }
    word = 1;
    releaser().Flush();
    EXPECT_EQ(gpu().counts().device_synchronizes, has_context_events ? 0 : 2);
    EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  }
}

TEST_F(ReleaserTest, WithoutAWordOfTheRuntimeOnlyDevicesThatDovetailUsedAreWaitedFor) {
  Start({}, [](RuntimeApi& api) { api.device_in_use = nullptr; });
  (void)MakeStream(0);
  (void)gpu().MakeStream(1);
  releaser().Push(UnknownBlock(1));
  releaser().Drain();
  EXPECT_EQ(gpu().counts().context_event_records, 1);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// The default stream of a pinned tensor is that of the first device.
// Rule 50.
TEST_F(ReleaserTest, ADefaultStreamOfADeviceThatNobodyUsedStandsForUnknownWork) {
  const Stream a = MakeStream(1);
  Work(a);
  releaser().Push(Block(1, {Stream::Default(device(0))}));
  releaser().Drain();
  EXPECT_EQ(releaser().waiting(), 1);
  Run(a);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  EXPECT_FALSE(gpu().HasContext(0));
}

TEST_F(ReleaserTest, WorkOfKnownStreamsNeedsNoEventOverADevice) {
  const Stream a = MakeStream();
  Work(a);
  releaser().Push(Block(1, {a}));
  releaser().Drain();
  releaser().Drain();
  releaser().Flush();
  EXPECT_EQ(gpu().counts().context_event_records, 0);
  EXPECT_EQ(gpu().counts().device_synchronizes, 0);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

// Rule 50.
TEST_F(ReleaserTest, AFlushWaitsForAllWorkAndReturnsEverything) {
  const Stream a = MakeStream(), b = MakeStream(1);
  Work(a), Work(b);
  int returned = 0;
  releaser().Push(Block(1, {a}));
  releaser().Push(UnknownBlock(2));
  releaser().Push(Lent(&returned, {b}));
  gpu().ResetCounts();
  releaser().Flush();
  EXPECT_THAT(memory.reclaimed, testing::UnorderedElementsAre(1, 2));
  EXPECT_EQ(returned, 1);
  EXPECT_EQ(gpu().counts().device_synchronizes, 2);
  EXPECT_EQ(releaser().waiting(), 0);
}

// ---- Holds ----

TEST_F(ReleaserTest, MemoryThatIsHeldGoesToNoAllocatorUntilTheHoldIsOver) {
  memory.takes_in_order = memory.takes_after = true;
  auto hold = std::make_shared<NotedHold>();
  std::unique_ptr<Uses> uses = Block(1, {MakeStream()});
  uses->AddEvent(Events::OfHold(device(), hold));
  releaser().Push(std::move(uses));
  releaser().Drain();
  releaser().Flush();
  EXPECT_THAT(memory.after, IsEmpty());
  EXPECT_EQ(releaser().waiting(), 1);
  hold->over = true;
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  EXPECT_THAT(hold->asked, ElementsAre(false, true, false)) << "only a flush asks thoroughly";
}

TEST_F(ReleaserTest, UnknownWorkOnMemoryThatIsHeldIsWaitedForToo) {
  const Stream a = MakeStream();
  Work(a);
  auto hold = std::make_shared<NotedHold>();
  std::unique_ptr<Uses> uses = UnknownBlock(1);
  uses->AddEvent(Events::OfHold(device(), hold));
  releaser().Push(std::move(uses));
  releaser().Drain();
  Run(a);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  hold->over = true;
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

TEST_F(ReleaserTest, WhileOneThreadDrainsAnotherDoesNothing) {
  struct Draining final : Hold {
    Releaser* releaser = nullptr;
    int asked = 0;
    // The second time, drains on another thread.
    bool IsOver(bool) noexcept override {
      if (++asked == 2) std::thread([this] { releaser->Drain(); }).join();
      return asked >= 2;
    }
  };
  auto hold = std::make_shared<Draining>();
  hold->releaser = &releaser();
  std::unique_ptr<Uses> uses = Block(1);
  uses->AddEvent(Events::OfHold(device(), hold));
  releaser().Push(std::move(uses));
  releaser().Drain();
  EXPECT_EQ(releaser().waiting(), 1);
  releaser().Drain();
  EXPECT_EQ(hold->asked, 2);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

TEST_F(ReleaserTest, WhatSeveralThreadsReleaseAtOnceAllComesBack) {
  constexpr size_t kThreads = 4, kEach = 5000;
  std::atomic<bool> start = false;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!start) std::this_thread::yield();
      for (size_t number = 1; number <= kEach; ++number) releaser().Push(Block(number));
    });
  }
  start = true;
  for (std::thread& thread : threads) thread.join();
  releaser().Drain();
  EXPECT_EQ(memory.reclaimed.size(), kThreads * kEach);
}

// Rule 50.
TEST_F(ReleaserTest, AtItsEndItWaitsForAllWorkAndReturnsEverything) {
  const Stream a = MakeStream();
  Work(a);
  releaser().Push(Block(1, {a}));
  releaser().Drain();
  releaser().Push(UnknownBlock(2));
  End();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1, 2));
}

// ---- What makes no call ----

TEST_F(ReleaserTest, WithoutMemoryADrainMakesNoCall) {
  const Stream captured = MakeStream();
  gpu().BeginCapture(captured.native(), 0);
  EXPECT_TRUE(*context().streams.IsCapturing(captured));
  gpu().ResetCounts();
  releaser().Drain();
  releaser().Drain(captured);
  EXPECT_EQ(gpu().counts().total, 0);
  EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
}

// Rules 49, 50.
TEST_F(ReleaserTest, WhileACaptureIsOpenNothingComesBack) {
  const Stream a = MakeStream(), captured = MakeStream();
  Work(a);
  releaser().Push(Block(1, {a}));
  releaser().Drain();
  Run(a);
  gpu().BeginCapture(captured.native(), 0);
  releaser().Drain(captured);  // remembers it
  releaser().Push(Block(2));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, IsEmpty());
  EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, testing::UnorderedElementsAre(1, 2));
}

TEST_F(ReleaserTest, AStreamOfAnotherVendorIsNotAskedAbout) {
  releaser().Push(Block(1));
  gpu().ResetCounts();
  releaser().Drain(Stream::Borrow(Device::Rocm(0), NativeStream{0x77}));  // none of ours
  EXPECT_EQ(gpu().counts().total, 0);
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
}

TEST_F(ReleaserTest, AForkedChildReturnsNothing) {
  (void)MakeStream();
  int returned = 0;
  releaser().Push(Block(1));
  releaser().Push(Lent(&returned));
  const pid_t child = fork();
  if (child == 0) {
    gpu().ResetCounts();
    releaser().Drain();
    releaser().Flush();
    _exit(memory.reclaimed.empty() && returned == 0 && gpu().counts().total == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  releaser().Drain();
  EXPECT_THAT(memory.reclaimed, ElementsAre(1));
  EXPECT_EQ(returned, 1);
}

}  // namespace
}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
