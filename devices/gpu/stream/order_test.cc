// OrderBefore alone, from the uses of memory. tests/gpu/order_test.cc has it through the doors.

#include "dovetail/devices/gpu/stream/order.h"

#include <initializer_list>
#include <optional>

#include "dovetail/devices/gpu/stream/events.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using emulator::Function;
using gpu::Events;
using gpu::ResultClass;
using testing::ElementsAre;
using testing::HasSubstr;

class OrderBeforeTest : public EmulatedGpu {
 protected:
  // Adds work to a stream, which runs when somebody waits for it.
  void Work(const Stream& stream) {
    const int index = stream.device().index;
    const NativeStream native =
        stream.is_lasting() && !stream.is_owned() ? gpu().api().legacy_stream : stream.native();
    gpu().Set(native, index, gpu().Malloc(index, 16), 1, 16);
  }
  bool IsDone(const Event& event) { return backend().Query(event).value_or(false); }

  absl::Status Order(std::initializer_list<Stream> streams, const Stream& consumer) {
    Uses uses;
    for (const Stream& stream : streams) uses.AddStream(stream, UseKind::kWork);
    gpu().ResetCounts();
    return backend().OrderBefore(uses, consumer);
  }
  absl::Status Order(std::initializer_list<Event> events, const Stream& consumer) {
    Uses uses;
    for (const Event& event : events) uses.AddEvent(event);
    gpu().ResetCounts();
    return backend().OrderBefore(uses, consumer);
  }
  absl::Status Order(const Event& event, const Stream& consumer) {
    return Order(std::initializer_list<Event>{event}, consumer);
  }
  struct NoHold final : gpu::Hold {
    bool IsOver(bool) noexcept override { return true; }
  };
};

// ---- What is waited for ----

// Rule 49.
TEST_F(OrderBeforeTest, EachStreamIsWaitedForAndNoOther) {
  const Stream a = MakeStream(), b = MakeStream(1), other = MakeStream(), consumer = MakeStream();
  for (const Stream& stream : {a, b, other}) Work(stream);
  const Event of_a = *backend().Record(a), of_b = *backend().Record(b);
  const Event of_other = *backend().Record(other);
  ASSERT_TRUE(Order({a, b, consumer}, consumer).ok());
  EXPECT_EQ(gpu().counts().event_records, 2);
  EXPECT_EQ(gpu().counts().stream_waits, 2);
  EXPECT_EQ(gpu().counts().host_waits, 0);
  ASSERT_TRUE(backend().Synchronize(consumer).ok());
  EXPECT_TRUE(IsDone(of_a) && IsDone(of_b));
  EXPECT_FALSE(IsDone(of_other));
}

// Rule 49.
TEST_F(OrderBeforeTest, EachEventIsWaitedForOnTheConsumersStream) {
  const Stream a = MakeStream(), b = MakeStream(1), consumer = MakeStream();
  Work(a), Work(b);
  const Event of_a = *backend().Record(a), of_b = *backend().Record(b);
  ASSERT_TRUE(Order({of_a, of_b}, consumer).ok());
  EXPECT_EQ(gpu().counts().event_records, 0);
  ASSERT_TRUE(backend().Synchronize(consumer).ok());
  EXPECT_TRUE(IsDone(of_a) && IsDone(of_b));
}

TEST_F(OrderBeforeTest, TheConsumersOwnStreamIsAskedOnlyOnce) {
  const Stream consumer = MakeStream();
  gpu().Fail(Function::kStreamCaptureStatus, ResultClass::kOther, 1);
  EXPECT_TRUE(Order({consumer}, consumer).ok());
}

// Rule 50.
TEST_F(OrderBeforeTest, MemoryThatWaitsForItsReleaseComesBackFirst) {
  const Stream a = MakeStream(), consumer = MakeStream();
  int returned = 0;
  auto uses = std::make_unique<Uses>();
  uses->AddStream(a, UseKind::kWork);
  backend().ReleaseAfter(std::move(uses),
                         {[](void* count) { ++*static_cast<int*>(count); }, &returned});
  EXPECT_TRUE(Order(std::initializer_list<Stream>{}, consumer).ok());
  EXPECT_EQ(returned, 1);
}

// ---- Drivers that fail ----

// Rule 49.
TEST_F(OrderBeforeTest, WhatCannotBeOrderedIsAnError) {
  const Stream a = MakeStream(), consumer = MakeStream();
  const Event event = *backend().Record(a);
  for (const Function function : {Function::kEventRecord, Function::kStreamWaitEvent,
                                  Function::kStreamCaptureStatus, Function::kPushDevice}) {
    SCOPED_TRACE(static_cast<int>(function));
    gpu().Fail(function, ResultClass::kOther);
    EXPECT_EQ(Order({a}, consumer).code(), absl::StatusCode::kInternal);
    gpu().Fail(function, ResultClass::kOk);
  }
  gpu().Fail(Function::kStreamWaitEvent, ResultClass::kOther);
  EXPECT_EQ(Order(event, consumer).code(), absl::StatusCode::kInternal);
  gpu().Fail(Function::kStreamWaitEvent, ResultClass::kOk);
  // The consumer can be asked, and the stream can't.
  gpu().Fail(Function::kStreamCaptureStatus, ResultClass::kOther, 1);
  EXPECT_EQ(Order({a}, consumer).code(), absl::StatusCode::kInternal);
  const StreamScope scope(a);
  gpu().Fail(Function::kStreamCaptureStatus, ResultClass::kOther);
  EXPECT_EQ(Order(std::initializer_list<Stream>{}, Stream::Default(device())).code(),
            absl::StatusCode::kInternal);
}

// ---- Captures ----

class OrderInCaptureTest : public OrderBeforeTest {
 protected:
  // Captures `stream` until the test ends; nothing may break that.
  void Capture(const Stream& stream) {
    gpu().BeginCapture(stream.native(), stream.device().index);
    captured_.emplace(stream);
  }
  void TearDown() override {
    if (captured_) {
      EXPECT_TRUE(gpu().EndCapture(captured_->native(), captured_->device().index));
      captured_.reset();
    }
    EmulatedGpu::TearDown();
  }

 private:
  std::optional<Stream> captured_;
};

TEST_F(OrderInCaptureTest, AnIdleStreamNeedsNothingAndAPendingOneIsAnError) {
  const Stream idle = MakeStream(), pending = MakeStream(), consumer = MakeStream();
  Work(pending);
  Capture(consumer);
  EXPECT_TRUE(Order({idle, Stream::Default(device())}, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 0);
  const absl::Status s = Order({idle, pending}, consumer);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(s.message(), HasSubstr(pending.ToString()));
}

TEST_F(OrderInCaptureTest, AStreamThatCannotBeAskedIsAnError) {
  const Stream a = MakeStream(), consumer = MakeStream();
  Capture(consumer);
  gpu().Fail(Function::kStreamCaptureStatus, ResultClass::kOther, 1);
  EXPECT_EQ(Order({a}, consumer).code(), absl::StatusCode::kInternal);
}

TEST_F(OrderInCaptureTest, AnEventFromOutsideMustHaveHappened) {
  const Stream a = MakeStream(), consumer = MakeStream();
  Work(a);
  const Event pending = *backend().Record(a);
  const Event happened = *backend().Record(MakeStream());
  Capture(consumer);
  EXPECT_TRUE(Order(happened, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 0);
  const absl::Status s = Order(pending, consumer);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(s.message(), HasSubstr("before the capture begins"));
  gpu().Fail(Function::kEventQuery, ResultClass::kOther);
  EXPECT_EQ(Order(happened, consumer).code(), absl::StatusCode::kFailedPrecondition);
}

// Rule 49.
TEST_F(OrderInCaptureTest, AnEventOfTheCaptureIsWaitedForInItAndNotOutside) {
  const Stream a = MakeStream(), inside = MakeStream(), outside = MakeStream();
  Capture(a);
  const Event event = *backend().Record(a);
  EXPECT_TRUE(Order(event, outside).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 0) << "the wait would make it part of the capture";
  ASSERT_TRUE(Order({a}, inside).ok());  // part of the capture from here on
  EXPECT_TRUE(Order(event, inside).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 1);
}

TEST_F(OrderInCaptureTest, AHoldIsNotWaitedFor) {
  const Stream consumer = MakeStream();
  const Event held = Events::OfHold(device(), std::make_shared<NoHold>());
  EXPECT_TRUE(Order(held, consumer).ok());
  Capture(consumer);
  EXPECT_TRUE(Order(held, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 0);
}

// Rule 49.
TEST_F(OrderInCaptureTest, OneCapturedStreamAmongTheUsesDecides) {
  const Stream captured = MakeStream(), idle = MakeStream(), pending = MakeStream();
  const Stream consumer = MakeStream(), second = MakeStream();
  Work(pending);
  Capture(captured);
  ASSERT_TRUE(Order({captured, idle}, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 1) << "an idle stream outside is not waited for in it";
  EXPECT_EQ(Order({captured, pending}, second).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(OrderInCaptureTest, WorkOnTheDefaultStreamIsAnErrorWhileACaptureIsOpen) {
  const Stream standard = Stream::Default(device()), pending = MakeStream();
  const Stream captured = MakeStream(), consumer = MakeStream();
  Work(standard), Work(pending);
  Capture(captured);
  const StreamScope scope(captured);
  EXPECT_EQ(Order({standard}, consumer).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Order({pending}, consumer).ok()) << "a stream of its own is ordered as ever";
  EXPECT_EQ(gpu().counts().stream_waits, 1);
}

// Rule 49.
TEST_F(OrderInCaptureTest, ForTheDefaultStreamNothingIsDoneWhileOurStreamIsCaptured) {
  const Stream pending = MakeStream(), captured = MakeStream(), consumer = MakeStream();
  Work(pending);
  Capture(captured);
  const StreamScope scope(captured);
  EXPECT_TRUE(Order({pending}, Stream::Default(device())).ok());
  EXPECT_EQ(gpu().counts().event_records + gpu().counts().stream_waits, 0);
  EXPECT_TRUE(Order({pending}, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 1) << "for another stream all is done";
}

// ---- Streams of other backends ----

// Two vendors. The streams of the second have handles that the first does not have.
class OrderOfTwoBackendsTest : public OrderBeforeTest {
 protected:
  OrderOfTwoBackendsTest() {
    for (int i = 0; i < 10; ++i) second_.MakeStream(0);
  }
  void TearDown() override {
    EXPECT_THAT(second_.TakeComplaints(), testing::IsEmpty());
    EmulatedGpu::TearDown();
  }
  DeviceBackend& Second() { return *Registry::Global().Find(DeviceType::kRocm); }
  Stream MadeBySecond() { return *Second().CreateStream(Device::Rocm(0)); }
  void WorkOfSecond(const Stream& stream) {
    second_.Set(stream.native(), 0, second_.Malloc(0, 16), 1, 16);
  }

  Emulator second_{{.vendor = &gpu::kRocmTraits}};
  std::optional<ScopedBackendOverride> backend_of_second_{gpu::MakeGpuBackend(second_.api())};
};

// Rule 49.
TEST_F(OrderOfTwoBackendsTest, TheHostWaitsForWorkOfAnotherBackend) {
  const Stream theirs = MadeBySecond(), ours = MakeStream(), consumer = MakeStream();
  Work(ours), WorkOfSecond(theirs);
  const Event event = *Second().Record(theirs);
  ASSERT_TRUE(Order({theirs, ours}, consumer).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 1);
  EXPECT_EQ(gpu().counts().host_waits, 0);
  EXPECT_TRUE(Second().Query(event).value_or(false));

  WorkOfSecond(theirs);
  const Event later = *Second().Record(theirs);
  ASSERT_TRUE(Order(later, consumer).ok());
  EXPECT_EQ(gpu().counts().total, 3) << "whether the consumer is captured is all that is asked";
  EXPECT_TRUE(Second().Query(later).value_or(false));
}

// Rule 49.
TEST_F(OrderOfTwoBackendsTest, ItsErrorsArePassedOn) {
  const Stream theirs = MadeBySecond(), consumer = MakeStream();
  const Event event = *Second().Record(theirs);
  second_.Fail(Function::kStreamSynchronize, ResultClass::kOther);
  EXPECT_THAT(Order({theirs}, consumer).message(), HasSubstr("ROCm"));
  second_.Fail(Function::kEventSynchronize, ResultClass::kOther);
  EXPECT_THAT(Order(event, consumer).message(), HasSubstr("ROCm"));
}

TEST_F(OrderOfTwoBackendsTest, WorkOfADeviceThatNoBackendServesIsAnError) {
  backend_of_second_.reset();
  const Stream theirs = Stream::Borrow(Device::Rocm(0), NativeStream{0x77});
  const Event event = Events::Borrow(Device::Rocm(0), nullptr);
  const Stream consumer = MakeStream();
  for (const absl::Status& s : {Order({theirs}, consumer), Order(event, consumer)}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(s.message(), HasSubstr("No backend serves rocm:0"));
  }
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
