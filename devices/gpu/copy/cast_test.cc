// Casts on emulated GPUs: where they run, what crosses the link, and in which order.

#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

class Casts : public EmulatedGpu {
 protected:
  static constexpr int64_t kCount = 3000;

  // 0, 1/4, 2/4, …, in memory of the host.
  static Tensor Quarters(int64_t count = kCount) {
    Tensor t = *Tensor::Empty({count}, kFloat32);
    auto* data = static_cast<float*>(t.raw_data());
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i) / 4;
    return t;
  }
  static std::vector<char> Bytes(const Tensor& t) {
    const Tensor host = *Copied(t, {.device = Device::Cpu()});
    const auto* data = static_cast<const char*>(host.raw_data());
    return {data, data + host.nbytes()};
  }
  void ExpectCounts(int host_waits, int64_t link_bytes, int launches) {
    const auto counts = gpu().counts();
    EXPECT_EQ(counts.host_waits, host_waits);
    EXPECT_EQ(counts.link_bytes, link_bytes);
    EXPECT_EQ(counts.launches, launches);
    gpu().ResetCounts();
  }
};

TEST_F(Casts, OnOneDeviceTakeOneLaunchAndNoHost) {
  const Tensor host = Quarters();
  const Tensor x = OnDevice(host);
  gpu().ResetCounts();
  const Tensor y = *Copied(x, {.dtype = kBFloat16});
  ExpectCounts(0, 0, 1);
  EXPECT_EQ(gpu().counts().copies, 0);
  EXPECT_EQ(Bytes(y), Bytes(*Copied(host, {.dtype = kBFloat16})));
  Tensor z = *Tensor::Empty({kCount}, kInt16, device());
  gpu().ResetCounts();
  ASSERT_TRUE(CopyInto(z, x).ok());
  ExpectCounts(0, 0, 1);
  EXPECT_EQ(Bytes(z), Bytes(*Copied(host, {.dtype = kInt16})));
}

TEST_F(Casts, ViewsAreCastInPlace) {
  const Tensor host = *Quarters().Reshape({30, 100});
  const Tensor x = OnDevice(host), y = *Tensor::Empty({100, 60}, kFloat16, device());
  const auto every_other = [](const Tensor& t) {
    return *t.Slice(1, {.start = 1, .step = 2})->Transpose(0, 1);
  };
  gpu().ResetCounts();
  ASSERT_TRUE(CopyInto(every_other(y), x).ok());
  ExpectCounts(0, 0, 1);
  EXPECT_EQ(Bytes(every_other(y)), Bytes(*Copied(host, {.dtype = kFloat16})));
  // A row is repeated.
  Tensor rows = *Tensor::Empty({7, 100}, kFloat64, device());
  gpu().ResetCounts();
  ASSERT_TRUE(CopyInto(rows, *x.Select(0, 3)).ok());
  ExpectCounts(0, 0, 1);
  EXPECT_EQ(Bytes(*rows.Select(0, 6)), Bytes(*Copied(*host.Select(0, 3), {.dtype = kFloat64})));
}

TEST_F(Casts, RunInTheOrderOfTheirStreams) {
  const Tensor first = Quarters(), second = *Copied(*Quarters().Slice(0, {.step = -1}));
  const Tensor pinned = Pinned(first, device()), other = Pinned(second, device());
  const Stream one = MakeStream(), two = MakeStream();
  Tensor x = *Copied(pinned, {.device = device(), .stream = one});
  const Tensor y = *Copied(x, {.dtype = kFloat16, .stream = two});
  ASSERT_TRUE(CopyInto(x, other, {.stream = one}).ok());  // after the cast has read x
  EXPECT_EQ(Bytes(y), Bytes(*Copied(first, {.dtype = kFloat16})));
  EXPECT_EQ(Bytes(x), Bytes(second));
}

TEST_F(Casts, FromTheHostCrossTheLinkAsTheSmallerType) {
  const Tensor wide = Quarters();
  const Tensor narrow = *Copied(wide, {.dtype = kFloat16});
  gpu().ResetCounts();
  const Tensor x = *Copied(wide, {.dtype = kFloat16, .device = device()});
  EXPECT_EQ(gpu().counts().link_bytes, 2 * kCount);
  EXPECT_EQ(gpu().counts().launches, 0);
  gpu().ResetCounts();
  const Tensor y = *Copied(narrow, {.dtype = kFloat32, .device = device()});
  EXPECT_EQ(gpu().counts().link_bytes, 2 * kCount);
  EXPECT_EQ(gpu().counts().launches, 1);
  EXPECT_EQ(Bytes(x), Bytes(narrow));
  EXPECT_EQ(Bytes(y), Bytes(*Copied(narrow, {.dtype = kFloat32})));
}

TEST_F(Casts, ToTheHostCrossTheLinkAsTheSmallerType) {
  const Tensor wide = Quarters();
  const Tensor x = OnDevice(wide), y = OnDevice(*Copied(wide, {.dtype = kFloat16}));
  gpu().ResetCounts();
  const Tensor a = *Copied(x, {.dtype = kFloat16, .device = Device::Cpu()});
  EXPECT_EQ(gpu().counts().link_bytes, 2 * kCount);
  EXPECT_EQ(gpu().counts().launches, 1);
  gpu().ResetCounts();
  const Tensor b = *Copied(y, {.dtype = kFloat32, .device = Device::Cpu()});
  EXPECT_EQ(gpu().counts().link_bytes, 2 * kCount);
  EXPECT_EQ(gpu().counts().launches, 0);
  EXPECT_EQ(Bytes(a), Bytes(*Copied(wide, {.dtype = kFloat16})));
  EXPECT_EQ(Bytes(b), Bytes(*Copied(*Copied(wide, {.dtype = kFloat16}), {.dtype = kFloat32})));
}

TEST_F(Casts, ACopyFromTheHostIsDoneWhenTheCallReturns) {
  const Tensor narrow = *Copied(Quarters(), {.dtype = kFloat16});
  Tensor x = *Tensor::Empty({kCount}, kFloat32, device());
  ASSERT_TRUE(CopyInto(x, narrow).ok());
  // Without a wait for anything.
  std::vector<unsigned char> there = gpu().Peek(x.raw_data(), static_cast<size_t>(x.nbytes()));
  const std::vector<char> expected = Bytes(*Copied(narrow, {.dtype = kFloat32}));
  EXPECT_EQ(std::memcmp(there.data(), expected.data(), expected.size()), 0);
}

TEST_F(Casts, BetweenTwoDevicesCrossTheLinkAsTheSmallerType) {
  const Tensor host = Quarters(), half = *Copied(host, {.dtype = kFloat16});
  for (int at : {-1, 0, 1}) {  // no stream, or one of either device
    const auto stream = at < 0 ? std::nullopt : std::optional(MakeStream(at));
    const Tensor x = OnDevice(host, 0), y = OnDevice(half, 0);
    gpu().ResetCounts();
    const Tensor a = *Copied(x, {.dtype = kFloat16, .device = device(1), .stream = stream});
    ExpectCounts(0, 2 * kCount, 1);
    const Tensor b = *Copied(y, {.dtype = kFloat32, .device = device(1), .stream = stream});
    ExpectCounts(0, 2 * kCount, 1);
    EXPECT_EQ(Bytes(a), Bytes(half));
    EXPECT_EQ(Bytes(b), Bytes(*Copied(half, {.dtype = kFloat32})));
  }
}

// What another library enqueued on the stream, of which Dovetail knows nothing.
TEST_F(Casts, BetweenTwoDevicesFollowTheGivenStreamAndPrecedeItsLaterWork) {
  const Tensor host = Quarters(), half = *Copied(host, {.dtype = kFloat16});
  for (int at : {0, 1}) {
    for (const bool widens : {false, true}) {
      SCOPED_TRACE(testing::Message() << "stream of device " << at << ", widens " << widens);
      const Stream stream = MakeStream(at);
      Tensor x = OnDevice(widens ? half : host, 0);
      Tensor y = *Tensor::Empty({kCount}, widens ? kFloat32 : kFloat16, device(1));
      const Tensor zeros = *Tensor::Empty({x.nbytes()}, kUInt8, device(at));
      const Tensor seen = *Tensor::Empty({y.nbytes()}, kUInt8, device(at));
      const uint8_t zero = 0;
      ASSERT_TRUE(Fill(Tensor(zeros), &zero).ok());
      gpu().Finish();
      gpu().CopyOn(stream.native(), at, x.raw_data(), zeros.raw_data(),
                   static_cast<size_t>(x.nbytes()));
      ASSERT_TRUE(CopyInto(y, x, {.stream = stream}).ok());
      gpu().CopyOn(stream.native(), at, seen.raw_data(), y.raw_data(),
                   static_cast<size_t>(y.nbytes()));
      ASSERT_TRUE(backend().Synchronize(stream).ok());
      EXPECT_THAT(gpu().Peek(seen.raw_data(), static_cast<size_t>(y.nbytes())), testing::Each(0));
    }
  }
}

TEST_F(Casts, OnOneDeviceCanBeCaptured) {
  const Tensor x = OnDevice(Quarters());
  Tensor y = *Tensor::Empty({kCount}, kBFloat16, device());
  const Stream s = MakeStream();
  gpu().Finish();
  gpu().BeginCapture(s.native(), 0);
  EXPECT_TRUE(CopyInto(y, x, {.stream = s}).ok());
  EXPECT_TRUE(gpu().EndCapture(s.native(), 0));
  gpu().LaunchLastGraph(s.native(), 0);
  gpu().Finish();
  EXPECT_EQ(Bytes(y), Bytes(*Copied(Quarters(), {.dtype = kBFloat16})));
}

TEST_F(Casts, PinnedMemoryIsReadAndWrittenByTheKernel) {
  const Tensor host = Quarters();
  const Tensor pinned = Pinned(host, device());
  const Stream s = MakeStream();
  gpu().ResetCounts();
  const Tensor x = *Copied(pinned, {.dtype = kFloat64, .device = device(), .stream = s});
  ExpectCounts(0, 0, 1);
  EXPECT_EQ(Bytes(x), Bytes(*Copied(host, {.dtype = kFloat64})));
  Tensor back = *Tensor::Make(*Storage::Allocate(2 * kCount, device(), MemoryKind::kPinnedHost), 0,
                              kFloat16, *Layout::Contiguous({kCount}), {});
  ASSERT_TRUE(CopyInto(back, x).ok());
  EXPECT_EQ(Bytes(back), Bytes(*Copied(host, {.dtype = kFloat16})));
}

TEST_F(Casts, ComplexNumbersAndVectorTypesAreCastByPart) {
  const Tensor host = Quarters();
  const Tensor x = OnDevice(host);
  const Tensor as_complex = *Copied(host, {.dtype = kComplex128});
  gpu().ResetCounts();
  const Tensor z = *Copied(x, {.dtype = kComplex128});
  ExpectCounts(0, 0, 2);  // the imaginary parts are a fill
  EXPECT_EQ(Bytes(z), Bytes(as_complex));
  const Tensor same = *Copied(x, {.dtype = kComplex64});
  EXPECT_EQ(Bytes(same), Bytes(*Copied(host, {.dtype = kComplex64})));
  EXPECT_EQ(Bytes(*Copied(z, {.dtype = kComplex32})),
            Bytes(*Copied(as_complex, {.dtype = kComplex32})));
  EXPECT_EQ(Bytes(*Copied(z, {.dtype = kBool})), Bytes(*Copied(as_complex, {.dtype = kBool})));
}

TEST_F(Casts, WhatHasNoKernelGoesThroughTheHost) {
  const Tensor host = Quarters(15);
  for (const DType type : {kFloat4E2M1Fn, kInt4, kFloat6E3M2Fn}) {
    const Tensor narrow = *Copied(host, {.dtype = type});
    const Tensor x = *Copied(OnDevice(host), {.dtype = type});
    EXPECT_EQ(Bytes(x), Bytes(narrow)) << type;
    EXPECT_EQ(Bytes(*Copied(x, {.dtype = kFloat32})), Bytes(*Copied(narrow, {.dtype = kFloat32})))
        << type;
  }
}

TEST_F(Casts, WithoutKernelsTheHostCasts) {
  Start({.has_kernels = false});
  const Tensor host = Quarters();
  const Tensor x = OnDevice(host);
  EXPECT_EQ(Bytes(*Copied(x, {.dtype = kInt8})), Bytes(*Copied(host, {.dtype = kInt8})));
  EXPECT_EQ(Bytes(*Copied(x, {.dtype = kFloat64, .device = device(1)})),
            Bytes(*Copied(host, {.dtype = kFloat64})));
  EXPECT_EQ(gpu().counts().launches, 0);
}

TEST_F(Casts, WithoutMemoryForTheStepInBetweenTheHostCasts) {
  Start({.device_bytes = size_t{1} << 20});
  const Tensor host = Quarters(200000);  // 800,000 bytes
  const Tensor half = *Copied(host, {.dtype = kFloat16});
  {
    const Tensor x = OnDevice(host);
    EXPECT_EQ(Bytes(*Copied(x, {.dtype = kFloat16, .device = Device::Cpu()})), Bytes(half));
  }
  const absl::StatusOr<Tensor> y = Copied(half, {.dtype = kFloat32, .device = device()});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Bytes(*y), Bytes(*Copied(half, {.dtype = kFloat32})));
}

TEST_F(Casts, AnImpossibleCastMovesNoElement) {
  const Tensor x = *Copied(OnDevice(Quarters()), {.dtype = kComplex64});
  gpu().ResetCounts();
  const absl::Status s = Copied(x, {.dtype = kFloat32, .device = Device::Cpu()}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), HasSubstr("imaginary part"));
  EXPECT_EQ(gpu().counts().copies, 0);
}

TEST_F(Casts, MemoryBetweenTwoElementsIsCastByTheHost) {
  const Tensor bytes = OnDevice(*Tensor::Empty({41}, kUInt8));
  const uint8_t three = 3;
  ASSERT_TRUE(Fill(Tensor(bytes), &three).ok());
  const Tensor x = *Tensor::Make(bytes.storage(), 1, kFloat32, *Layout::Contiguous({10}), {});
  const Tensor y = *Copied(x, {.dtype = kFloat64});
  EXPECT_EQ(static_cast<const double*>(Copied(y, {.device = Device::Cpu()})->raw_data())[9],
            static_cast<double>(std::bit_cast<float>(0x03030303)));
}

}  // namespace
}  // namespace dovetail
