// A process whose work is on one device makes no context on another, whatever it does with pinned
// memory: a context takes hundreds of MB, and each process of a job would make one on GPU 0.

#include <optional>

#include "dovetail/tests/gpu/scenes.h"

namespace dovetail {
namespace {

using testing::Each;

class PinnedContextTest : public EmulatedGpu {
 protected:
  void TearDown() override {
    EXPECT_FALSE(gpu().HasContext(0));
    EmulatedGpu::TearDown();
    EXPECT_FALSE(gpu().HasContext(0)) << "at the end of the backend";
  }

  Tensor Pinned(int32_t value) {
    Tensor t = *Tensor::Empty({kSceneElements}, kInt32, pinned());
    for (int64_t i = 0; i < kSceneElements; ++i) (*t.data<int32_t>())[i] = value;
    return t;
  }
  Tensor OnOne() { return *Tensor::Empty({kSceneElements}, kInt32, device(1)); }
};

TEST_F(PinnedContextTest, MemoryIsAllocatedAndFreedWithADeviceThatDovetailUsed) {
  (void)MakeStream(1);
  for (const char* name : {"pinned", "caching(pinned)"}) {
    ASSERT_TRUE(backend().SelectAllocator(pinned(), MemoryKind::kDevice, name).ok());
    Allocator& allocator = AllocatorOf(pinned());
    (void)Pinned(1);
    ASSERT_TRUE(allocator.Trim(0).ok());
    EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
    // More than there is.
    EXPECT_FALSE(allocator.Allocate(size_t{1} << 40, Stream::Default(device(0))).ok());
  }
}

TEST_F(PinnedContextTest, MemoryIsAllocatedWithTheDeviceThatAnotherLibraryMadeCurrent) {
  gpu().SetCurrent(1);
  (void)Pinned(1);
  ASSERT_TRUE(AllocatorOf(pinned()).Trim(0).ok());
  gpu().SetCurrent(-1);
}

TEST_F(PinnedContextTest, MemoryIsAllocatedWithADeviceThatAnotherLibraryUses) {
  (void)gpu().MakeStream(1);
  (void)Pinned(1);
  ASSERT_TRUE(AllocatorOf(pinned()).Trim(0).ok());
}

TEST_F(PinnedContextTest, CopiesOnAStreamAreOrderedAndWaitedFor) {
  const Stream stream = MakeStream(1);
  Tensor out = OnOne(), back = Pinned(0);
  {
    const Tensor in = Pinned(7);
    ASSERT_TRUE(CopyInto(out, in, {.stream = stream}).ok());
  }
  ASSERT_TRUE(CopyInto(back, out, {.stream = stream}).ok());
  ASSERT_TRUE(back.storage()->Synchronize().ok());
  EXPECT_THAT(*back.span<const int32_t>(), Each(7));
}

TEST_F(PinnedContextTest, ADefaultStreamIsNamedByExports) {
  const Stream stream = MakeStream(1);
  Tensor t = Pinned(0), from = OnOne();
  const int32_t seven = 7;
  ASSERT_TRUE(Fill(from, &seven, {.stream = stream}).ok());
  ASSERT_TRUE(CopyInto(t, from, {.stream = stream}).ok());
  const StreamRequest request = *backend().DecodeStream(pinned(), std::nullopt);
  const UniqueDLPack managed = *ToDLPack(t, {.stream = request.stream});
  EXPECT_THAT(*t.span<const int32_t>(), Each(7)) << "the host waited: no stream can";
  ASSERT_TRUE(t.storage()->Synchronize().ok());
}

// Rule 50.
TEST_F(PinnedContextTest, ConsumersAreWaitedForBeforeMemoryIsReused) {
  const Stream stream = MakeStream(1);
  ASSERT_TRUE(backend().SelectAllocator(pinned(), MemoryKind::kDevice, "caching(pinned)").ok());
  const StreamRequest request = *backend().DecodeStream(pinned(), std::nullopt);
  for (const std::optional<Stream>& named : {request.stream, std::optional<Stream>()}) {
    Consumer consumer(gpu(), device(1));
    consumer.Take(*ToDLPack(Pinned(7), {.stream = named}));
    consumer.Read();
    consumer.DeleteTensor();
    for (int i = 0; i < 4; ++i) (void)Pinned(-1);
    gpu().Finish();
    EXPECT_THAT(consumer.Seen(), Each(7));
  }
}

TEST_F(PinnedContextTest, TheDefaultStreamOfTheFirstDeviceHasNoWork) {
  (void)MakeStream(1);
  EXPECT_TRUE(backend().Synchronize(CurrentStream(pinned())).ok());
  EXPECT_TRUE(AwaitOnHost(Stream::Default(pinned())).ok());
}

TEST_F(PinnedContextTest, CopiesAndFillsOfPinnedMemoryAloneAreTheHosts) {
  (void)MakeStream(1);
  Tensor in = Pinned(7), out = Pinned(0);
  ASSERT_TRUE(CopyInto(out, in).ok());
  EXPECT_THAT(*out.span<const int32_t>(), Each(7));
  const Tensor host = *Copied(in, {.device = Device::Cpu()});
  EXPECT_THAT(*host.span<const int32_t>(), Each(7));
  const int32_t eight = 8;
  ASSERT_TRUE(Fill(in, &eight).ok());
  ASSERT_TRUE(CopyInto(*out.Slice(0, {.step = -1}), in).ok());
  EXPECT_THAT(*out.span<const int32_t>(), Each(8));
  ASSERT_TRUE(CopyInto(in, host).ok());
  EXPECT_THAT(*in.span<const int32_t>(), Each(7));
}

TEST_F(PinnedContextTest, TheWorkOfADeviceIsDoneBeforeTheHostCopies) {
  const Stream stream = MakeStream(1);
  Tensor in = Pinned(0), out = Pinned(0), from = OnOne();
  const int32_t seven = 7;
  ASSERT_TRUE(Fill(from, &seven, {.stream = stream}).ok());
  ASSERT_TRUE(CopyInto(in, from, {.stream = stream}).ok());
  ASSERT_TRUE(CopyInto(out, in).ok());
  EXPECT_THAT(*out.span<const int32_t>(), Each(7));
}

TEST_F(PinnedContextTest, CopiesThroughStagingBlocksUseTheDeviceOfTheCopy) {
  const Tensor t = OnOne(), host = Counting({kSceneElements});
  const auto every_second = [](const Tensor& x) { return *x.Slice(0, {.step = 2}); };
  ASSERT_TRUE(CopyInto(every_second(t), every_second(host)).ok());
  ASSERT_TRUE(CopyInto(every_second(host), every_second(t)).ok());
}

TEST_F(PinnedContextTest, ADeviceWithoutRoomForAContextDoesNotCount) {
  gpu().Fail(emulator::Function::kPushDevice, gpu::ResultClass::kOutOfMemory);
  EXPECT_FALSE(Tensor::Empty({kSceneElements}, kInt32, device(0)).ok());
  gpu().Fail(emulator::Function::kPushDevice, gpu::ResultClass::kOk);
  (void)MakeStream(1);
  (void)Pinned(1);
  ASSERT_TRUE(AllocatorOf(pinned()).Trim(0).ok());
}

TEST_F(PinnedContextTest, ATrimOfADeviceThatWasNotUsedDoesNothing) {
  EXPECT_TRUE(AllocatorOf(device(0)).Trim(0).ok());
}

}  // namespace
}  // namespace dovetail
