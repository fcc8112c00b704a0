// Memory is neither reused nor returned to its lender before the work on it is done.

#include <string>
#include <thread>
#include <tuple>

#include "dovetail/tests/gpu/scenes.h"

namespace dovetail {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Each allocator of device memory, with and without an event over the device's whole work.
class ReleaseTest : public EmulatedGpu,
                    public testing::WithParamInterface<std::tuple<std::string, bool>> {
 protected:
  ReleaseTest() : EmulatedGpu({.has_context_events = std::get<1>(GetParam())}) {
    EXPECT_TRUE(
        backend().SelectAllocator(device(), MemoryKind::kDevice, std::get<0>(GetParam())).ok());
  }

  Tensor New() { return *Tensor::Empty({kSceneElements}, kInt32, device()); }
  Tensor Filled(int32_t value) {
    Tensor t = New();
    EXPECT_TRUE(Fill(t, &value).ok());
    return t;
  }
  // Allocates and overwrites memory repeatedly, like a program that runs on.
  void GoOn() {
    for (int i = 0; i < 8; ++i) {
      Filled(-1);
      std::this_thread::yield();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Allocators, ReleaseTest,
                         testing::Combine(testing::Values("async", "direct", "caching(async)",
                                                          "caching(direct)"),
                                          testing::Bool()),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) +
                                              (std::get<1>(info.param) ? "_events" : "_sync");
                           for (char& c : name) c = c == '(' || c == ')' ? '_' : c;
                           return name;
                         });

// Rule 50.
TEST_P(ReleaseTest, MemoryIsNotReusedBeforeAConsumersReadsAreDone) {
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Tensor t = Filled(42);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  t = Tensor();
  consumer.Read();
  consumer.DeleteTensor();
  GoOn();
  ASSERT_TRUE(backend().Synchronize(ours).ok());
  gpu().Finish();
  EXPECT_THAT(consumer.Seen(), Each(42));
}

// Rule 50.
TEST_P(ReleaseTest, AConsumerMayDestroyItsStreamBeforeTheDeleterRuns) {
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Tensor t = Filled(42);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  t = Tensor();
  consumer.Read();
  consumer.DestroyStream();
  consumer.DeleteTensor();
  GoOn();
  ASSERT_TRUE(backend().Synchronize(ours).ok());
  gpu().Finish();
  EXPECT_THAT(consumer.Seen(), Each(42));
}

// Rule 50.
TEST_P(ReleaseTest, AConsumerWithoutSynchronisationIsWaitedForToo) {
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Tensor t = Filled(42);
  ASSERT_TRUE(backend().Synchronize(ours).ok());
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t));
  t = Tensor();
  consumer.Read();
  consumer.DeleteTensor();
  GoOn();
  gpu().Finish();
  EXPECT_THAT(consumer.Seen(), Each(42));
}

// Rule 50.
TEST_P(ReleaseTest, ACountedStreamOfOursIsWaitedForByItself) {
  const Stream ours = MakeStream(), second = MakeStream();
  StreamScope scope(ours);
  Tensor t = Filled(42);
  Tensor out = New();
  ASSERT_TRUE(CopyInto(out, t, {.stream = second}).ok());
  t = Tensor();
  gpu().ResetCounts();
  GoOn();
  EXPECT_EQ(gpu().counts().context_event_records, 0);
  EXPECT_THAT(Values(out), Each(42));
}

// Rule 50.
TEST_P(ReleaseTest, ABorrowedStreamThatIsGoneIsWaitedForByItsEvent) {
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Tensor t = Filled(42);
  Tensor out = New();
  const NativeStream theirs = gpu().MakeStream(0);
  ASSERT_TRUE(CopyInto(out, t, {.stream = Borrow(theirs)}).ok());
  gpu().DestroyStream(theirs);
  t = Tensor();
  gpu().ResetCounts();
  GoOn();
  EXPECT_EQ(gpu().counts().context_event_records, 0);
  EXPECT_THAT(Values(out), Each(42));
}

// Rule 50.
TEST_P(ReleaseTest, ADeleterMakesNoCallToTheVendor) {
  Tensor t = Filled(42);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  t = Tensor();
  gpu().ResetCounts();
  std::thread([&] { consumer.DeleteTensor(); }).join();
  EXPECT_EQ(gpu().counts().total, 0);
}

// Rule 50.
TEST_P(ReleaseTest, LentMemoryGoesBackOnlyAfterOurWorkOnIt) {
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Producer producer(gpu(), device());
  producer.Write(5);
  Tensor t = *FromDLPack(producer.Lend(ours.native()));
  t.storage()->RecordUse(ours, UseKind::kOrder);
  const Tensor out = *Copied(t, {.device = device()});
  t = Tensor();
  EXPECT_EQ(producer.deleted(), 0) << "the copy has not run";
  ASSERT_TRUE(AllocatorOf(device()).Trim(0).ok());
  EXPECT_EQ(producer.deleted(), 1);
  EXPECT_THAT(Values(out), Each(Repeated(5)));
}

// Rule 50.
TEST_P(ReleaseTest, AStreamThatWasOnlyOrderedAfterLentMemoryIsNotWaitedFor) {
  const Stream worked = MakeStream(), ordered = MakeStream();
  StreamScope scope(worked);
  Producer producer(gpu(), device());
  Tensor t = *FromDLPack(producer.Lend(worked.native()));
  t.storage()->RecordUse(ordered, UseKind::kOrder);
  Tensor out = New();
  ASSERT_TRUE(CopyInto(out, t, {.stream = worked}).ok());
  const int32_t seven = 7;
  ASSERT_TRUE(Fill(New(), &seven, {.stream = ordered}).ok());  // pending work
  t = Tensor();
  New();
  EXPECT_EQ(producer.deleted(), 0) << "the copy has not run";
  const gpu::RuntimeApi& api = gpu().api();
  api.stream_synchronize(api.self, worked.native());
  New();
  EXPECT_EQ(producer.deleted(), 1);
}

TEST_P(ReleaseTest, LentMemoryThatWasNotUsedGoesBackAtOnce) {
  Producer producer(gpu(), device());
  Tensor t = *FromDLPack(producer.Lend(gpu().api().legacy_stream, false));
  t.storage()->RecordUse(Stream::Default(device()), UseKind::kOrder);
  t = Tensor();
  EXPECT_EQ(producer.deleted(), 1);
}

// Rule 50.
TEST_P(ReleaseTest, LentMemoryThatWentOnToAConsumerIsWaitedForToo) {
  Producer producer(gpu(), device());
  producer.Write(6);
  const Stream ours = MakeStream();
  StreamScope scope(ours);
  Tensor t = *FromDLPack(producer.Lend(ours.native()));
  t.storage()->RecordUse(ours, UseKind::kOrder);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  consumer.Read();
  t = Tensor();
  consumer.DeleteTensor();
  EXPECT_EQ(producer.deleted(), 0);
  for (int i = 0; i < 1000 && producer.deleted() == 0; ++i) GoOn();
  EXPECT_EQ(producer.deleted(), 1);
  gpu().Finish();
  EXPECT_THAT(consumer.Seen(), Each(Repeated(6)));
}

// Rules 49, 50.
TEST_P(ReleaseTest, WhileAStreamIsCapturedReleasesWait) {
  const Stream captured = MakeStream(), other = MakeStream();
  Tensor from = New(), to = New();
  Tensor t = Filled(42);
  Consumer consumer(gpu(), device());
  consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
  t = Tensor();
  consumer.Read();
  consumer.DeleteTensor();
  // No allocation from here on: it might start a thread that waits for the device, and that wait
  // could fall into the capture. The copy is therefore the first call that drains.
  gpu().Finish();
  gpu().BeginCapture(captured.native(), 0);
  ASSERT_TRUE(CopyInto(to, from, {.stream = captured}).ok());
  gpu().ResetCounts();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Storage::Allocate(kSceneBytes * 2, other).ok());
  EXPECT_EQ(gpu().counts().context_event_records + gpu().counts().device_synchronizes, 0);
  EXPECT_TRUE(gpu().EndCapture(captured.native(), 0));
  ASSERT_TRUE(AllocatorOf(device()).Trim(0).ok());
}

TEST_P(ReleaseTest, NothingIsLost) {
  const std::string name = std::get<0>(GetParam());
  {
    const Stream a = MakeStream(), b = MakeStream();
    for (int i = 0; i < 20; ++i) {
      Tensor t = *Tensor::Empty({1 + i * 37}, kInt32, device());
      const int32_t value = i;
      ASSERT_TRUE(Fill(t, &value, {.stream = i % 2 == 0 ? a : b}).ok());
      if (i % 3 == 0) {
        ASSERT_TRUE(ToDLPack(t).ok());
      }
    }
  }
  Allocator& allocator = AllocatorOf(device());
  ASSERT_TRUE(allocator.Trim(0).ok());
  EXPECT_EQ(allocator.Stats().allocated_bytes, 0);
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
  EXPECT_EQ(gpu().LiveBytes(0), 0u);
}

TEST(ReleaseOfUnseenCaptures, OneThatAnEventBreaksIsNotBrokenAgain) {
  // Dovetail can't know of a capture that it was never shown: the first event over the device
  // breaks it. From then on, unknown uses wait for a trim.
  struct Scene : EmulatedGpu {
    void TestBody() override {
      Consumer consumer(gpu(), device());
      for (int i = 0; i < 3; ++i) {
        const Tensor t = *Tensor::Empty({kSceneElements}, kInt32, device());
        consumer.Take(*ToDLPack(t));
        consumer.DeleteTensor();
      }
      const NativeStream unseen = gpu().MakeStream(0);
      gpu().Finish();
      const Stream ours = MakeStream();
      StreamScope scope(ours);
      gpu().ResetCounts();
      gpu().BeginCapture(unseen, 0);
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(Tensor::Empty({2}, kInt32, device()).ok());
      EXPECT_FALSE(gpu().EndCapture(unseen, 0));
      EXPECT_EQ(gpu().counts().context_event_records, 1);
      EXPECT_THAT(gpu().TakeComplaints(), ElementsAre(HasSubstr("whole work")));
      ASSERT_TRUE(AllocatorOf(device()).Trim(0).ok());
      EXPECT_EQ(AllocatorOf(device()).Stats().allocated_bytes, 0);
    }
    void Run() {
      TestBody();
      TearDown();
    }
  } scene;
  scene.Run();
}

}  // namespace
}  // namespace dovetail
