// Tests of the tests: each breaks one thing and checks that the tests notice it every time. Without
// the fault, the same scene passes (Sound).

#include <array>
#include <string>

#include "dovetail/tests/gpu/scenes.h"

namespace dovetail {
namespace {

using emulator::Fault;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

enum class Switch {
  kNone,
  kSkippedWaitOnExport,
  kSkippedWaitOnImport,
  kEarlyReuse,
  kKeptConsumersStream,
  kWrongStreamCode,
};

class FaultTest : public EmulatedGpu {
 protected:
  const Tensor source = Counting({kSceneElements});
  const std::vector<int32_t> expected = Values(source);

  // We write a tensor on our stream; a consumer reads it. Whether it saw the elements.
  bool ExportIsSeen(Switch broken) {
    const Stream ours = MakeStream();
    Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
    gpu().Finish();
    EXPECT_TRUE(CopyInto(t, Pinned(source, device()), {.stream = ours}).ok());
    Consumer consumer(gpu(), device());
    gpu().Inject(Fault::kIgnoreWaits, broken == Switch::kSkippedWaitOnExport);
    consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
    gpu().Inject(Fault::kIgnoreWaits, false);
    consumer.Read();
    consumer.Synchronize();
    const bool seen = consumer.Seen() == expected;
    gpu().Finish();
    return seen;
  }

  // We import a producer's tensor and copy it on our stream. Whether the copy is right.
  bool ImportIsSeen(Switch broken) {
    Producer producer(gpu(), device());
    producer.Write(9);
    bool seen;
    {
      const Stream ours = MakeStream();
      StreamScope scope(ours);
      const Tensor t = *FromDLPack(
          producer.Lend(ours.native(), /*orders=*/broken != Switch::kSkippedWaitOnImport));
      t.storage()->RecordUse(ours, UseKind::kOrder);
      const Tensor u = *Copied(t, {.device = device()});
      EXPECT_TRUE(backend().Synchronize(ours).ok());
      seen = AsInts(gpu().Peek(u.raw_data(), kSceneBytes)) ==
             std::vector<int32_t>(kSceneElements, Repeated(9));
    }
    EXPECT_TRUE(AllocatorOf(device()).Trim(0).ok());
    return seen;
  }

  // A consumer still reads while the memory is released. Whether it saw the elements, and nothing
  // used freed memory.
  bool ReleaseIsOrdered(Switch broken) {
    const Stream ours = MakeStream();
    StreamScope scope(ours);
    const Tensor pinned = Pinned(source, device());
    Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
    EXPECT_TRUE(CopyInto(t, pinned, {.stream = ours}).ok());
    Consumer consumer(gpu(), device());
    // As if the consumer's stream were a lasting one, kept until the deleter runs.
    const Stream theirs =
        broken == Switch::kKeptConsumersStream
            ? Stream::Own(device(), consumer.stream().native(), std::make_shared<int>(0))
            : consumer.stream();
    consumer.Take(*ToDLPack(t, {.stream = theirs}));
    t = Tensor();
    consumer.Read();
    gpu().Inject(Fault::kEventsHappenEarly, broken == Switch::kEarlyReuse);
    if (broken == Switch::kKeptConsumersStream) consumer.DestroyStream();
    consumer.DeleteTensor();
    const int32_t other = -1;
    for (int i = 0; i < 4; ++i) {
      Tensor next = *Tensor::Empty({kSceneElements}, kInt32, device());
      EXPECT_TRUE(Fill(next, &other).ok());
    }
    EXPECT_TRUE(backend().Synchronize(ours).ok());
    gpu().Inject(Fault::kEventsHappenEarly, false);
    gpu().Finish();
    const bool touched = !gpu().TakeComplaints().empty();
    return consumer.Seen() == expected && !touched;
  }
};

TEST_F(FaultTest, SoundCodeIsSeenToBeSound) {
  EXPECT_TRUE(ExportIsSeen(Switch::kNone));
  EXPECT_TRUE(ImportIsSeen(Switch::kNone));
  EXPECT_TRUE(ReleaseIsOrdered(Switch::kNone));
}

// Rule 49.
TEST_F(FaultTest, ASkippedWaitOnExportIsSeen) {
  EXPECT_FALSE(ExportIsSeen(Switch::kSkippedWaitOnExport));
}

// Rule 49.
TEST_F(FaultTest, ASkippedWaitOnImportIsSeen) {
  EXPECT_FALSE(ImportIsSeen(Switch::kSkippedWaitOnImport));
}

// Rule 49.
TEST_F(FaultTest, ASkippedWaitBetweenDevicesIsSeen) {
  Start({.has_peers = false});
  for (const bool skipped : {false, true}) {
    const Stream ours = MakeStream(0);
    const Tensor x = OnDevice(Counting({kSceneElements, 2}), 0);
    const Tensor y = *Tensor::Empty({kSceneElements, 2}, kInt32, device(1));
    gpu().Finish();
    gpu().Inject(Fault::kIgnoreWaits, skipped);
    ASSERT_TRUE(CopyInto(*y.Select(1, 0), *x.Select(1, 0), {.stream = ours}).ok());
    gpu().Inject(Fault::kIgnoreWaits, false);
    ASSERT_TRUE(backend().Synchronize(ours).ok());
    const std::vector<int32_t> seen = AsInts(gpu().Peek(y.raw_data(), 2 * kSceneBytes));
    bool right = true;
    for (int i = 0; i < kSceneElements; ++i) right = right && seen[2 * i] == 2 * i;
    EXPECT_EQ(right, !skipped);
    gpu().Finish();
    if (skipped) gpu().TakeComplaints();
  }
}

// Rule 50.
TEST_F(FaultTest, AnEarlyReuseIsSeen) {
  for (const char* name : {"async", "direct", "caching(async)", "caching(direct)"}) {
    ASSERT_TRUE(backend().SelectAllocator(device(), MemoryKind::kDevice, name).ok());
    const bool ordered = ReleaseIsOrdered(Switch::kEarlyReuse);
    // A free of "direct" waits for the device, whatever events say.
    EXPECT_EQ(ordered, std::string_view(name) == "direct") << name;
  }
}

// Rule 50.
TEST_F(FaultTest, AConsumersStreamThatIsKeptIsSeen) {
  EXPECT_FALSE(ReleaseIsOrdered(Switch::kKeptConsumersStream));
}

// Rules 46, 47.
TEST_F(FaultTest, AWrongStreamCodeIsSeen) {
  for (const bool wrong : {false, true}) {
    static gpu::VendorTraits traits;
    traits = gpu::kCudaTraits;
    // None would be no synchronisation, as it is in __cuda_array_interface__.
    if (wrong) traits.stream_codes.none = gpu::StreamMeaning::kNoSync;
    Start({.vendor = &traits});
    void* const out = gpu().Malloc(0, kSceneBytes);
    Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
    gpu().Finish();
    ASSERT_TRUE(CopyInto(t, Pinned(source, device()), {.stream = MakeStream()}).ok());
    const absl::StatusOr<StreamRequest> request = backend().DecodeStream(device(), std::nullopt);
    ASSERT_TRUE(ToDLPack(t, {.stream = request->stream}).ok());
    // The consumer reads on the legacy stream, whose code is None.
    const NativeStream legacy = gpu().api().legacy_stream;
    gpu().CopyOn(legacy, 0, out, t.raw_data(), kSceneBytes);
    ASSERT_TRUE(backend().Synchronize(Stream::Default(device())).ok());
    EXPECT_EQ(AsInts(gpu().Peek(out, kSceneBytes)) == expected, !wrong);
    gpu().Finish();
  }
}

using FaultDeathTest = FaultTest;
TEST_F(FaultDeathTest, ATouchByTheHostIsSeen) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a new process instead of a fork
  gpu().Inject(Fault::kCopyOnHost, true);
  Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
  EXPECT_DEATH(CopyInto(t, source).IgnoreError(), "");
}

}  // namespace
}  // namespace dovetail
