#include "dovetail/core/trace/trace.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/core/trace/traced.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What a test compares of an event.
struct Seen {
  TraceKind kind;
  std::string text;
};

class TraceTest : public testing::Test {
 protected:
  std::vector<TraceKind> Kinds() const {
    std::vector<TraceKind> kinds;
    for (const Seen& event : seen) kinds.push_back(event.kind);
    return kinds;
  }
  TraceSubscription::Function Noting() {
    return [this](const TraceEvent& event) { seen.push_back({event.kind, event.ToString()}); };
  }

  FakeLog log;
  ScopedBackendOverride fake{std::make_unique<FakeBackend>(
      std::vector<DeviceType>{DeviceType::kCpu, DeviceType::kCuda}, &log)};
  std::vector<Seen> seen;
};

TEST_F(TraceTest, ACopyIsToldWithItsAllocation) {
  const Tensor x = *Tensor::Empty({2, 3}, kFloat32, Device::Cpu());
  const TraceSubscription trace(Noting());
  ASSERT_TRUE(Copied(x).ok());
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kAllocate, TraceKind::kCopy));
  EXPECT_THAT(seen[0].text, HasSubstr("allocate: 24 bytes on cpu, "));
  EXPECT_THAT(seen[1].text, HasSubstr("copy, float32 [2, 3] on cpu, 24 bytes, "));
}

TEST_F(TraceTest, ACastAndAFillNameTheirTypes) {
  Tensor x = *Tensor::Empty({2}, kInt32, Device::Cpu());
  Tensor y = *Tensor::Empty({2}, kFloat64, Device::Cpu());
  const TraceSubscription trace(Noting());
  (void)CopyInto(y, x);
  const int32_t one = 1;
  ASSERT_TRUE(Fill(x, &one).ok());
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kCast, TraceKind::kFill));
  EXPECT_THAT(seen[0].text, HasSubstr("cast, int32 -> float64 [2] on cpu, 16 bytes, "));
}

TEST_F(TraceTest, WorkThatFailsIsToldWithItsReason) {
  const TraceSubscription trace(Noting());
  EXPECT_FALSE(Storage::Allocate(8, Device::Rocm(0)).ok());
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kAllocate));
  EXPECT_THAT(seen[0].text, HasSubstr("rocm"));
}

TEST_F(TraceTest, StreamsAndWaitsOfTheHostAreTold) {
  const Tensor x = *Tensor::Empty({4}, kUInt8, Device::Cuda(0));
  const Stream other = FakeStream(Device::Cuda(0), 7);
  const TraceSubscription trace(Noting());
  ASSERT_TRUE(x.storage()->OrderBefore(other).ok());
  ASSERT_TRUE(x.storage()->Synchronize().ok());
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kOrder, TraceKind::kWait));
  EXPECT_THAT(seen[0].text, HasSubstr(other.ToString() + " after ["));
  EXPECT_THAT(seen[1].text, HasSubstr("the host after ["));
}

TEST_F(TraceTest, ACopyThatEndsOnTheHostTellsOfTheWait) {
  const Tensor x = *Tensor::Empty({4}, kUInt8, Device::Cuda(0));
  const TraceSubscription trace(Noting());
  ASSERT_TRUE(Copied(x, {.device = Device::Cpu()}).ok());
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kAllocate, TraceKind::kOrder, TraceKind::kWait,
                                   TraceKind::kCopy));
  EXPECT_THAT(seen[3].text, HasSubstr("on cuda:0 -> cpu, 4 bytes"));
}

TEST_F(TraceTest, NothingIsToldBeforeAndAfterASubscription) {
  const Tensor x = *Tensor::Empty({2}, kInt32, Device::Cpu());
  EXPECT_FALSE(internal_trace::IsObserved());
  {
    const TraceSubscription trace(Noting());
    const TraceSubscription second(Noting());
    EXPECT_TRUE(internal_trace::IsObserved());
  }
  EXPECT_FALSE(internal_trace::IsObserved());
  ASSERT_TRUE(Copied(x).ok());
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(TraceTest, EachSubscriptionHearsOtherThreads) {
  const Tensor x = *Tensor::Empty({2}, kInt32, Device::Cpu());
  int more = 0;
  const TraceSubscription trace(Noting());
  const TraceSubscription second([&](const TraceEvent&) { ++more; });
  std::thread([&] { ASSERT_TRUE(Copied(x).ok()); }).join();
  EXPECT_THAT(Kinds(), ElementsAre(TraceKind::kAllocate, TraceKind::kCopy));
  EXPECT_EQ(more, 2);
}

TEST_F(TraceTest, SubscriptionsComeAndGoWhileOtherThreadsWork) {
  std::atomic<int> heard = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const Stream host = Stream::Default(Device::Cpu());
        if (internal_trace::IsObserved()) {
          internal_trace::Tell(
              {.kind = TraceKind::kWait, .awaited = absl::MakeConstSpan(&host, 1)});
        }
      }
    });
  }
  while (heard < 1000) {
    const TraceSubscription trace(
        [&](const TraceEvent& event) { heard += static_cast<int>(event.awaited.size()); });
    std::this_thread::yield();
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// ThreadSanitizer does not support fork() after threads have started.
#if !defined(__SANITIZE_THREAD__)

TEST_F(TraceTest, AChildForkedWhileThreadsTellTellsAndSubscribes) {
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer's allocator does not survive it";
  constexpr TraceEvent kEvent{.kind = TraceKind::kWait};
  std::atomic<int> heard = 0;
  std::atomic<bool> done = false;
  const TraceSubscription trace([&](const TraceEvent&) { ++heard; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) internal_trace::Tell(kEvent);
    });
  }
  int exited = 0;
  for (int round = 0; round < 100; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(5);  // a child that hangs is killed
      heard = 0;
      const TraceSubscription second([&](const TraceEvent&) { ++heard; });
      internal_trace::Tell(kEvent);
      _exit(heard);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2) break;
    ++exited;
  }
  EXPECT_EQ(exited, 100);
  done = true;
  for (std::thread& thread : threads) thread.join();
}

#endif

TEST_F(TraceTest, ABlockWithoutCopiesObservesNothing) {
  std::atomic<bool> done = false;
  std::atomic<bool> begun = false;
  std::thread other([&] {
    const NoCopiesScope scope;
    begun = true;
    while (!done) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  EXPECT_FALSE(internal_trace::IsObserved());
  const NoCopiesScope scope;
  EXPECT_TRUE(NoCopiesScope::IsOn());
  EXPECT_FALSE(internal_trace::IsObserved());
  done = true;
  other.join();
}

TEST_F(TraceTest, WhatASubscriptionDoesIsNotTold) {
  int heard = 0;
  const TraceSubscription trace([&](const TraceEvent&) {
    ++heard;
    EXPECT_TRUE(Tensor::Empty({2}, kInt32, Device::Cpu()).ok());
  });
  ASSERT_TRUE(Tensor::Empty({2}, kInt32, Device::Cpu()).ok());
  EXPECT_EQ(heard, 1);
}

TEST_F(TraceTest, AnExchangeInsideAnotherTellsNothing) {
  const internal_trace::ExchangeScope outer;
  const internal_trace::ExchangeScope inner;
  EXPECT_TRUE(outer.is_outermost());
  EXPECT_FALSE(inner.is_outermost());
}

TEST_F(TraceTest, NoCopiesRefusesNewMemoryWithElementsAndNothingElse) {
  Tensor x = *Tensor::Empty({2, 2}, kInt32, Device::Cpu());
  const Tensor transposed = *x.Permute({1, 0});
  {
    const NoCopiesScope scope;
    EXPECT_EQ(Copied(x).status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(AsContiguous(transposed).status().message(), HasSubstr("no_copies"));
    EXPECT_TRUE(AsContiguous(x).ok());
    EXPECT_TRUE(Tensor::Empty({2}, kInt32, Device::Cpu()).ok());
    EXPECT_TRUE(CopyInto(*x.Slice(0, {.start = 1}), *transposed.Slice(0, {.stop = 1})).code() ==
                absl::StatusCode::kFailedPrecondition);  // they overlap
    const int32_t one = 1;
    EXPECT_TRUE(Fill(x, &one).ok());
    std::thread([&] { EXPECT_TRUE(Copied(x).ok()); }).join();
  }
  EXPECT_TRUE(Copied(x).ok());
}

}  // namespace
}  // namespace dovetail
