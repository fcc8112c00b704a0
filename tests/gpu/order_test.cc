// The next user of a tensor sees the earlier work on it, and waits for nothing else.

#include <string>
#include <thread>

#include "dovetail/tests/gpu/scenes.h"

namespace dovetail {
namespace {

using testing::Each;
using testing::HasSubstr;

class OrderTest : public EmulatedGpu, public testing::WithParamInterface<const gpu::VendorTraits*> {
 protected:
  OrderTest() : EmulatedGpu({.vendor = GetParam()}) {}

  // A tensor with pending work on `stream`: a copy of Counting().
  Tensor Written(const Stream& stream) {
    Tensor t = *Tensor::Empty({kSceneElements}, kInt32, stream.device());
    const Tensor source = Pinned(Counting({kSceneElements}), device());
    EXPECT_TRUE(CopyInto(t, source, {.stream = stream}).ok());
    return t;
  }
  const std::vector<int32_t> expected = Values(Counting({kSceneElements}));
};
INSTANTIATE_TEST_SUITE_P(Vendors, OrderTest, testing::Values(&gpu::kCudaTraits, &gpu::kRocmTraits),
                         [](const auto& info) { return std::string(info.param->name); });

// Rule 49.
TEST_P(OrderTest, AConsumersStreamSeesTheWorkThatIsPending) {
  for (const Stream& ours : {Stream::Default(device()), MakeStream()}) {
    const Tensor t = Written(ours);
    Consumer consumer(gpu(), device());
    gpu().ResetCounts();
    consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
    EXPECT_EQ(gpu().counts().host_waits, 0);
    EXPECT_GE(gpu().counts().stream_waits, 1);
    consumer.Read();
    consumer.Synchronize();
    EXPECT_EQ(consumer.Seen(), expected);
  }
}

TEST_P(OrderTest, WithoutAStreamNothingIsOrdered) {
  const Stream ours = MakeStream();
  const Tensor t = Written(ours);
  ASSERT_TRUE(backend().Synchronize(Stream::Default(device())).ok());
  Consumer consumer(gpu(), device());
  gpu().ResetCounts();
  consumer.Take(*ToDLPack(t));
  EXPECT_EQ(gpu().counts().total, 0);
}

// Rule 49.
TEST_P(OrderTest, NothingIsDoneWhereBothAreOneStreamOrTheDefaultStreamIsIdle) {
  const Stream ours = Stream::Default(device());
  Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
  ASSERT_TRUE(CopyInto(t, Counting({kSceneElements}), {.stream = ours}).ok());
  gpu().Finish();
  gpu().ResetCounts();
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  EXPECT_EQ(gpu().counts().stream_waits, 0) << "all was done";
  EXPECT_EQ(gpu().counts().event_records, 0);
  const Tensor source = Pinned(Counting({kSceneElements}), device());
  ASSERT_TRUE(CopyInto(t, source, {.stream = ours}).ok());
  gpu().ResetCounts();
  ASSERT_TRUE(ToDLPack(t, {.stream = ours}).ok());
  EXPECT_EQ(gpu().counts().stream_waits, 0) << "it is one stream";
  EXPECT_EQ(gpu().counts().event_records, 0);
}

// Rule 49.
TEST_P(OrderTest, WorkOnABorrowedStreamIsSeenThoughTheStreamIsGone) {
  const NativeStream theirs = gpu().MakeStream(0);
  const Tensor t = Written(Borrow(theirs));
  gpu().DestroyStream(theirs);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  consumer.Read();
  consumer.Synchronize();
  EXPECT_EQ(consumer.Seen(), expected);
}

// Rule 49.
TEST_P(OrderTest, OurOwnStreamsSeeEachOther) {
  const Stream a = MakeStream(), b = MakeStream();
  Tensor t = Written(a);
  const Tensor u = *Copied(t, {.device = device(), .stream = b});
  ASSERT_TRUE(backend().Synchronize(b).ok());
  EXPECT_EQ(AsInts(gpu().Peek(u.raw_data(), kSceneBytes)), expected);
  // And a write waits for pending reads.
  const int32_t zero = 0;
  ASSERT_TRUE(Fill(t, &zero, {.stream = a}).ok());
  EXPECT_EQ(Values(u), expected);
  EXPECT_THAT(Values(t), Each(0));
}

// By a kernel that reaches both devices, and packed, sent and unpacked.
// Rule 49.
TEST_P(OrderTest, AConsumerOnAnotherDeviceSeesAStridedCopyToIt) {
  for (const bool has_peers : {true, false}) {
    Start({.vendor = GetParam(), .has_peers = has_peers});
    for (const int at : {0, 1}) {
      const NativeStream theirs = gpu().MakeStream(at);
      for (const Stream& stream :
           {Stream::Default(device(at)), MakeStream(at), Borrow(theirs, at)}) {
        const Tensor x = *Tensor::Empty({kSceneElements, 2}, kInt32, device(0));
        const Tensor y = *Tensor::Empty({2, kSceneElements}, kInt32, device(1));
        ASSERT_TRUE(CopyInto(Tensor(x), Counting({kSceneElements, 2})).ok());
        ASSERT_TRUE(CopyInto(*y.Transpose(0, 1), x, {.stream = stream}).ok());
        Consumer consumer(gpu(), device(1));
        consumer.Take(*ToDLPack(*y.Select(0, 1), {.stream = consumer.stream()}));
        consumer.Read();
        consumer.Synchronize();
        EXPECT_EQ(consumer.Seen(), Values(*Counting({kSceneElements, 2}).Select(1, 1)));
      }
      gpu().DestroyStream(theirs);
    }
  }
}

// Rule 49.
TEST_P(OrderTest, TheProducersWorkIsSeenAfterAnImport) {
  Producer producer(gpu(), device());
  producer.Write(3);
  {
    const Stream ours = MakeStream();
    StreamScope scope(ours);
    const int64_t code = (*backend().EncodeStream(CurrentStream(device()))).value();
    const Tensor t = *FromDLPack(producer.Lend(NativeStream(code)));
    t.storage()->RecordUse(CurrentStream(device()), UseKind::kOrder);
    const Tensor u = *Copied(t, {.device = device()});
    ASSERT_TRUE(backend().Synchronize(ours).ok());
    EXPECT_THAT(AsInts(gpu().Peek(u.raw_data(), kSceneBytes)), Each(Repeated(3)));
    // A further consumer sees the elements, too.
    Consumer consumer(gpu(), device());
    consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
    consumer.Read();
    consumer.Synchronize();
    EXPECT_THAT(consumer.Seen(), Each(Repeated(3)));
  }
  ASSERT_TRUE(AllocatorOf(device()).Trim(0).ok());
  EXPECT_EQ(producer.deleted(), 1);
}

TEST_P(OrderTest, AThreadThatUsedNoDeviceAsksAnEventAndWaitsForIt) {
  const Stream stream = MakeStream(1);
  const Event event = *backend().Record(stream);
  std::thread([&] {
    EXPECT_TRUE(backend().Query(event).ok());
    EXPECT_TRUE(backend().HostWait(event).ok());
    EXPECT_TRUE(backend().Query(event).value_or(false));
  }).join();
}

TEST_P(OrderTest, WorkOnAnotherDevicesStreamIsWaitedFor) {
  const Tensor x = OnDevice(Counting({kSceneElements}), 1);
  const Stream on_1 = MakeStream(1), on_0 = MakeStream(0);
  const Tensor y = *Copied(x, {.device = device(0), .stream = on_1});
  const Tensor z = *Copied(y, {.device = device(0), .stream = on_0});
  ASSERT_TRUE(backend().Synchronize(on_0).ok());
  EXPECT_EQ(AsInts(gpu().Peek(z.raw_data(), kSceneBytes)), expected);
}

TEST_P(OrderTest, ACopyOnAStreamThatIsNoneLeavesTheTensorsUsable) {
  const Tensor source = Counting({kSceneElements});
  for (const Tensor& t : {*Copied(source, {.device = device()}), Pinned(source, device())}) {
    EXPECT_TRUE(
        absl::IsNotFound(CopyInto(Tensor(t), source, {.stream = Stream::Default(device(7))})));
    EXPECT_TRUE(t.storage()->Synchronize().ok());
    EXPECT_EQ(Values(t), expected);
  }
}

TEST_P(OrderTest, AStreamOfEitherDeviceOrdersACast) {
  const Tensor source = Counting({kSceneElements});
  const Tensor x = OnDevice(*Copied(source, {.dtype = kFloat64}));
  const int32_t other = -1;
  for (const int at : {0, 1}) {
    const Stream stream = MakeStream(at);
    const Tensor y = *Tensor::Empty({kSceneElements}, kInt32, device(1));
    ASSERT_TRUE(Fill(Tensor(y), &other, {.stream = MakeStream(1)}).ok());
    const absl::Status cast = CopyInto(Tensor(y), x, {.stream = stream});
    ASSERT_TRUE(cast.ok()) << cast;
    ASSERT_TRUE(backend().Synchronize(stream).ok());
    EXPECT_EQ(AsInts(gpu().Peek(y.raw_data(), kSceneBytes)), expected);
  }
}

// ---- Captures ----

class CaptureTest : public OrderTest {};
INSTANTIATE_TEST_SUITE_P(Vendors, CaptureTest,
                         testing::Values(&gpu::kCudaTraits, &gpu::kRocmTraits),
                         [](const auto& info) { return std::string(info.param->name); });

// Rule 49.
TEST_P(CaptureTest, NoneAddsNoDependencyWhileOurStreamIsCaptured) {
  const Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  gpu().BeginCapture(ours.native(), 0);
  const Stream consumer = *backend().DecodeStream(device(), std::nullopt)->stream;
  EXPECT_TRUE(ToDLPack(t, {.stream = consumer}).ok());
  EXPECT_TRUE(gpu().EndCapture(ours.native(), 0)) << "the legacy stream was not touched";
}

// Rule 49.
TEST_P(CaptureTest, AnExportToACapturedStreamDoesNotTouchTheLegacyStream) {
  const Tensor t = Written(Stream::Default(device()));
  Consumer consumer(gpu(), device());
  gpu().BeginCapture(consumer.stream().native(), 0);
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  consumer.Read();
  EXPECT_TRUE(gpu().EndCapture(consumer.stream().native(), 0));
  gpu().Finish();
  gpu().LaunchLastGraph(consumer.stream().native(), 0);
  gpu().Finish();
  EXPECT_EQ(consumer.Seen(), expected);
}

// Rule 49.
TEST_P(CaptureTest, WorkOfTheSameCaptureIsOrderedInIt) {
  Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
  const Tensor source = OnDevice(Counting({kSceneElements}));
  gpu().Finish();
  const Stream ours = MakeStream();
  Consumer consumer(gpu(), device());
  gpu().BeginCapture(ours.native(), 0);
  ASSERT_TRUE(CopyInto(t, source, {.stream = ours}).ok());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  consumer.Read();
  EXPECT_TRUE(gpu().EndCapture(ours.native(), 0));
  gpu().LaunchLastGraph(ours.native(), 0);
  gpu().Finish();
  EXPECT_EQ(consumer.Seen(), expected);
}

TEST_P(CaptureTest, WorkThatIsPendingOutsideOfTheCaptureIsSaid) {
  const Tensor t = Written(MakeStream());
  Consumer consumer(gpu(), device());
  gpu().BeginCapture(consumer.stream().native(), 0);
  EXPECT_THAT(ToDLPack(t, {.stream = consumer.stream()}).status().message(),
              HasSubstr("before the capture begins"));
  EXPECT_TRUE(gpu().EndCapture(consumer.stream().native(), 0));
}

TEST_P(CaptureTest, TheHostDoesNotWaitForACapturedStreamNorAllocateOnIt) {
  const Stream ours = MakeStream();
  gpu().BeginCapture(ours.native(), 0);
  EXPECT_THAT(backend().Synchronize(ours).message(), HasSubstr("captured into a graph"));
  EXPECT_THAT(Storage::Allocate(64, ours).status().message(), HasSubstr("allocate it before"));
  absl::StatusOr<Event> event = backend().Record(ours);
  ASSERT_TRUE(event.ok());
  EXPECT_FALSE(backend().Query(*event).ok());
  EXPECT_FALSE(backend().HostWait(*event).ok());
  EXPECT_TRUE(gpu().EndCapture(ours.native(), 0));
}

// Rule 49.
TEST_P(CaptureTest, AHostThatReadsPinnedMemoryDoesNotTouchTheLegacyStream) {
  for (const Stream& captured : {MakeStream(), Borrow(gpu().MakeStream(0))}) {
    const Tensor t = Pinned(Counting({kSceneElements}), device());
    gpu().BeginCapture(captured.native(), 0);
    const StreamRequest request = *backend().DecodeStream(pinned(), std::nullopt);
    EXPECT_TRUE(ToDLPack(t, {.stream = request.stream, .host_waits = request.host_waits}).ok());
    EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
  }
}

TEST_P(CaptureTest, TheHostDoesNotWaitForTheDefaultStreamInACapture) {
  const Stream ours = MakeStream();
  for (const bool is_current : {true, false}) {
    const Stream captured = is_current ? Borrow(gpu().MakeStream(0)) : ours;
    std::optional<StreamScope> scope;
    if (is_current) scope.emplace(captured);
    gpu().BeginCapture(captured.native(), 0);
    EXPECT_FALSE(CopyInto(Counting({8}), Counting({8}), {.stream = captured}).ok());
    EXPECT_THAT(backend().Synchronize(Stream::Default(device())).message(),
                HasSubstr("another stream is captured"));
    EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
  }
}

TEST_P(CaptureTest, ACopyThatIsRefusedLeavesTheTensorsUsableElsewhere) {
  const Tensor host = Counting({kSceneElements});
  const Stream elsewhere = MakeStream();
  StreamScope scope(elsewhere);
  const Tensor t = *Copied(host, {.device = device()});
  for (const Stream& captured : {MakeStream(), Borrow(gpu().MakeStream(0))}) {
    gpu().BeginCapture(captured.native(), 0);
    EXPECT_TRUE(absl::IsFailedPrecondition(CopyInto(Tensor(t), host, {.stream = captured})));
    EXPECT_EQ(Values(*Copied(t, {.device = device()})), expected) << "not in the capture";
    EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
  }
}

}  // namespace
}  // namespace dovetail
