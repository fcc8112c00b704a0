// Copies and casts in memory that the host and the device share, some of it under two names: as the
// device's memory, and as the host's.

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class HostMemoryTest : public EmulatedGpu, public testing::WithParamInterface<MemoryKind> {
 protected:
  // 0, 1, 2, …
  Tensor Counting(int64_t count) {
    StorageRef storage = *Storage::Allocate(count * sizeof(int32_t), device(), GetParam());
    Tensor t = *Tensor::Make(std::move(storage), 0, kInt32, *Layout::Contiguous({count}), {});
    std::iota(*t.data<int32_t>(), *t.data<int32_t>() + count, 0);
    return t;
  }
  // The same memory, as a library that knows of no devices lends it.
  static Tensor OnHost(const Tensor& t) {
    return *Tensor::Wrap(*t.data<int32_t>(), t.shape(), t.strides(), Device::Cpu(), [t] {});
  }
  static Tensor As(const Tensor& t, DType dtype) {
    return *Tensor::Make(t.storage(), 0, dtype, t.layout(), {});
  }
  template <typename T>
  static std::vector<T> Read(const Tensor& t) {
    EXPECT_TRUE(t.storage()->Synchronize().ok());
    return {(*t.span<const T>()).begin(), (*t.span<const T>()).end()};
  }
  static Tensor Reversed(const Tensor& t) { return *t.Slice(0, {.step = -1}); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, HostMemoryTest,
                         testing::Values(MemoryKind::kPinnedHost, MemoryKind::kManaged),
                         [](const auto& info) {
                           return std::string(info.param == MemoryKind::kManaged ? "Managed"
                                                                                 : "Pinned");
                         });

TEST_P(HostMemoryTest, AnOverlappingCastIsAsIfTheSourceHadBeenCopiedFirst) {
  for (const CopyOptions& options : {CopyOptions{}, CopyOptions{.stream = MakeStream()}}) {
    const Tensor ints = Counting(20000);
    Tensor floats = As(ints, kFloat32);
    ASSERT_TRUE(CopyInto(floats, Reversed(ints), options).ok());
    const std::vector<float> read = Read<float>(floats);
    for (int i = 0; i < 20000; ++i) ASSERT_EQ(read[i], 19999 - i) << i;
  }
}

TEST_P(HostMemoryTest, AnOverlappingCastRepeatsItsSource) {
  const Tensor ints = Counting(6);
  const Tensor floats = *As(ints, kFloat32).Reshape({2, 3});
  ASSERT_TRUE(CopyInto(Tensor(floats), *ints.Slice(0, {.start = 1, .stop = 4})).ok());
  EXPECT_THAT(Read<float>(floats), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST_P(HostMemoryTest, OverlapIsSeenWhateverTheMemoryIsCalled) {
  for (const CopyOptions& options : {CopyOptions{}, CopyOptions{.stream = MakeStream()}}) {
    for (const bool to_host : {false, true}) {
      const Tensor shared = Counting(5), host = OnHost(shared);
      const Tensor &dst = to_host ? host : shared, &src = to_host ? shared : host;
      ASSERT_TRUE(CopyInto(Tensor(dst), Reversed(src), options).ok());
      EXPECT_THAT(Read<int32_t>(shared), ElementsAre(4, 3, 2, 1, 0));
      ASSERT_TRUE(CopyInto(*dst.Slice(0, {.start = 1}), *src.Slice(0, {.stop = 4}), options).ok());
      EXPECT_THAT(Read<int32_t>(shared), ElementsAre(4, 4, 3, 2, 1));
      ASSERT_TRUE(CopyInto(As(dst, kFloat32), Reversed(src), options).ok());
      EXPECT_THAT(Read<float>(As(shared, kFloat32)), ElementsAre(1, 2, 3, 4, 4));
    }
  }
}

TEST_P(HostMemoryTest, WhatIsSetAsideHasTheWorkThatIsPending) {
  const Stream stream = MakeStream();
  Tensor shared = Counting(5);
  const Tensor host = OnHost(shared), values = OnDevice(Reversed(shared));
  gpu().Finish();
  ASSERT_TRUE(CopyInto(shared, values, {.stream = stream}).ok());
  ASSERT_TRUE(
      CopyInto(*shared.Slice(0, {.start = 1}), *host.Slice(0, {.stop = 4}), {.stream = stream})
          .ok());
  EXPECT_THAT(Read<int32_t>(shared), ElementsAre(4, 4, 3, 2, 1));
}

// The host's memory has no device of its own: the work is ordered on a stream of the other side's.
TEST_P(HostMemoryTest, EveryDeviceCopiesIntoItAndFromIt) {
  for (const int index : {0, 1}) {
    const Tensor shared = Counting(6);
    const Tensor on_device = *Copied(shared, {.device = device(index)});
    EXPECT_EQ(on_device.device(), device(index));
    const Tensor back = Counting(6);
    ASSERT_TRUE(CopyInto(Tensor(back), Reversed(on_device)).ok());
    EXPECT_THAT(Read<int32_t>(back), ElementsAre(5, 4, 3, 2, 1, 0));
    ASSERT_TRUE(CopyInto(Reversed(back), on_device).ok());
    EXPECT_THAT(Read<int32_t>(back), ElementsAre(5, 4, 3, 2, 1, 0));
    EXPECT_THAT(Read<int32_t>(*Copied(on_device, {.device = shared.device()})),
                ElementsAre(0, 1, 2, 3, 4, 5));
    const Stream stream = MakeStream(index);
    ASSERT_TRUE(CopyInto(Tensor(back), on_device, {.stream = stream}).ok());
    EXPECT_THAT(Read<int32_t>(back), ElementsAre(0, 1, 2, 3, 4, 5));
  }
}

// PyTorch lends pinned memory as the CPU's.
TEST_P(HostMemoryTest, WhatIsLentAsTheCpusIsReadBeforeTheCallReturns) {
  const Stream stream = MakeStream();
  const Tensor shared = Counting(6);
  const Tensor copy = *Copied(OnHost(shared), {.device = device(), .stream = stream});
  (*shared.data<int32_t>())[0] = 77;
  EXPECT_THAT(Values(copy), ElementsAre(0, 1, 2, 3, 4, 5));
  ASSERT_TRUE(CopyInto(OnHost(shared), copy, {.stream = stream}).ok());
  EXPECT_EQ((*shared.data<int32_t>())[0], 0) << "it has been written";
}

TEST_P(HostMemoryTest, ACopyOfTheCpusMemoryIsRefusedBeforeAnyOfItIsCaptured) {
  const Stream stream = MakeStream();
  const Tensor host = dovetail::Counting({6}), one = *host.Slice(0, {.stop = 1});
  const Tensor zeros = OnDevice(*host.Slice(0, {.start = 0, .stop = 6}));
  ASSERT_TRUE(Fill(Tensor(zeros), std::array<int32_t, 1>{}.data()).ok());
  gpu().Finish();
  for (const Tensor& src : {host, one}) {
    gpu().BeginCapture(stream.native(), 0);
    const absl::Status refused = CopyInto(Tensor(zeros), src, {.stream = stream});
    EXPECT_THAT(refused.message(), HasSubstr("use pinned memory"));
    EXPECT_TRUE(absl::IsFailedPrecondition(refused));
    EXPECT_FALSE(CopyInto(Tensor(host), zeros, {.stream = stream}).ok());
    EXPECT_TRUE(gpu().EndCapture(stream.native(), 0)) << "the capture is intact";
    gpu().LaunchLastGraph(stream.native(), 0);
    EXPECT_THAT(Values(zeros), Each(0)) << "nothing was captured";
  }
}

// The host writes at once, not in a stream's order.
// Rule 50.
TEST_P(HostMemoryTest, MemoryThatAStreamStillReadsIsNotGivenToTheHost) {
  const std::string name = GetParam() == MemoryKind::kManaged ? "managed" : "pinned";
  for (const std::string& allocator : {name, "caching(" + name + ")"}) {
    ASSERT_TRUE(backend().SelectAllocator(device(), GetParam(), allocator).ok());
    for (const Stream& stream : {MakeStream(), Stream::Default(device())}) {
      const StreamScope scope(stream);
      Tensor out = *Tensor::Empty({1000}, kInt32, device());
      {
        const Tensor read = Counting(1000);
        ASSERT_TRUE(CopyInto(out, read, {.stream = stream}).ok());
      }
      const Tensor next = Counting(1000);
      std::fill_n(*next.data<int32_t>(), 1000, -1);
      std::vector<int32_t> expected(1000);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(Values(out), expected) << allocator << ", " << stream;
    }
  }
}

TEST_P(HostMemoryTest, MemoryWhoseWorkIsDoneIsGivenToTheHostAgain) {
  const std::string name = GetParam() == MemoryKind::kManaged ? "managed" : "pinned";
  ASSERT_TRUE(backend().SelectAllocator(device(), GetParam(), "caching(" + name + ")").ok());
  const Stream stream = MakeStream();
  Tensor out = *Tensor::Empty({1000}, kInt32, device());
  const void* data;
  {
    const Tensor read = Counting(1000);
    data = read.raw_data();
    ASSERT_TRUE(CopyInto(out, read, {.stream = stream}).ok());
  }
  ASSERT_TRUE(backend().Synchronize(stream).ok());
  EXPECT_EQ(Counting(1000).raw_data(), data);
}

}  // namespace
}  // namespace dovetail
