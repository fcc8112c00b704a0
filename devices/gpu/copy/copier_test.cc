// Strided copies on an emulated GPU, with kernels and without.

#include "dovetail/devices/gpu/copy/copier.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CopierTest : public EmulatedGpu, public testing::WithParamInterface<bool> {
 protected:
  CopierTest() : EmulatedGpu({.has_kernels = GetParam()}) {}

  // The same view of a tensor, on any device.
  static Tensor Permuted(const Tensor& t) { return *t.Permute({2, 0, 1}); }
};
INSTANTIATE_TEST_SUITE_P(Kernels, CopierTest, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "WithKernels" : "RowByRow");
});

TEST_P(CopierTest, DenseTensorsTakeOneCall) {
  const Tensor x = OnDevice(Counting({8, 8}));
  Tensor y = *Tensor::Empty({8, 8}, kInt32, device());
  gpu().ResetCounts();
  ASSERT_TRUE(CopyInto(y, x).ok());
  EXPECT_EQ(gpu().counts().copies, 1);
  EXPECT_EQ(gpu().counts().launches, 0);
  EXPECT_EQ(gpu().counts().host_waits, 0);
}

TEST_P(CopierTest, TransposesOnTheDevice) {
  const Tensor host = Counting({5, 6, 7});
  const Tensor x = OnDevice(host);
  const Tensor y = *AsContiguous(Permuted(x));
  EXPECT_EQ(gpu().counts().launches, GetParam() ? 1 : 0);
  EXPECT_EQ(Values(y), Values(*AsContiguous(Permuted(host))));
}

TEST_P(CopierTest, BetweenStridedHostAndDeviceEitherWay) {
  const Tensor host = Counting({5, 6, 7});
  const Tensor expected = *AsContiguous(Permuted(host));
  const Tensor y = OnDevice(Permuted(host));
  EXPECT_EQ(Values(y), Values(expected));
  // Into a strided device tensor from a strided host one, and back into a strided host one.
  const Tensor z = *Tensor::Empty({5, 6, 7}, kInt32, device());
  ASSERT_TRUE(CopyInto(Permuted(z), Permuted(host)).ok());
  EXPECT_EQ(Values(z), Values(host));
  const Tensor back = *Tensor::Empty({5, 6, 7}, kInt32);
  ASSERT_TRUE(CopyInto(Permuted(back), Permuted(z)).ok());
  EXPECT_EQ(Values(back), Values(host));
}

TEST_P(CopierTest, LargeStridedCopiesGoInPieces) {
  const Tensor host = Counting({3, 700, 500});  // 4.2 MB: five pieces
  const Tensor turned = *host.Transpose(1, 2);
  const Tensor x = OnDevice(turned);
  const Tensor back = *Tensor::Empty({3, 700, 500}, kInt32);
  ASSERT_TRUE(CopyInto(*back.Transpose(1, 2), x).ok());
  EXPECT_EQ(Values(back), Values(host));
}

TEST_P(CopierTest, NegativeStridesAndRepeats) {
  const Tensor host = Counting({4, 5});
  const Tensor x = OnDevice(host);
  auto reversed = [](const Tensor& t) {
    return *t.Index({IndexItem::Range({.step = -1}), IndexItem::Range({.step = -2})});
  };
  EXPECT_EQ(Values(reversed(x)), Values(reversed(host)));
  Tensor y = *Tensor::Empty({3, 4, 5}, kInt32, device());
  ASSERT_TRUE(CopyInto(y, x).ok());
  EXPECT_EQ(Values(*y.Select(0, 2)), Values(host));
  EXPECT_EQ(Values(*y.Select(0, 0)), Values(host));
}

TEST_P(CopierTest, AnElementOfTheHostFills) {
  Tensor x = *Tensor::Empty({4, 6}, kInt32, device());
  const int32_t seven = 7, nine = 9;
  ASSERT_TRUE(Fill(x, &seven).ok());
  EXPECT_THAT(Values(x), testing::Each(7));
  ASSERT_TRUE(Fill(*x.Slice(1, {.start = 1, .step = 2}), &nine).ok());
  EXPECT_THAT(Values(*x.Select(0, 3)), ElementsAre(7, 9, 7, 9, 7, 9));
  Tensor d = *Tensor::Empty({3}, kFloat64, device());
  const double e = 2.5;
  ASSERT_TRUE(Fill(d, &e).ok());
  const Tensor back = *Copied(d, {.device = Device::Cpu()});
  EXPECT_EQ(static_cast<const double*>(back.raw_data())[2], 2.5);
}

// Patterns of the driver, of a kernel, and of a single element in words.
TEST_P(CopierTest, TheHostDoesNotWaitForAFill) {
  const int8_t byte = 3;
  const int32_t word = 7;
  const double repeats = 0, distinct = 2.5;
  const auto fill = [&](DType dtype, const std::vector<int64_t>& shape, const void* element) {
    const Tensor x = *Tensor::Empty(shape, dtype, device());
    gpu().ResetCounts();
    std::vector<unsigned char> given(static_cast<size_t>(dtype.itemsize()));
    std::memcpy(given.data(), element, given.size());
    ASSERT_TRUE(Fill(*x.Slice(0, {}), given.data()).ok());
    EXPECT_EQ(gpu().counts().host_waits, 0);
    std::fill(given.begin(), given.end(), 0xee);  // it has been read
    const Tensor back = *Copied(x, {.device = Device::Cpu()});
    const auto* bytes = static_cast<const unsigned char*>(back.raw_data());
    for (int64_t i = 0; i < back.nbytes(); i += dtype.itemsize()) {
      EXPECT_EQ(std::memcmp(bytes + i, element, given.size()), 0) << dtype.ToString();
    }
  };
  fill(kInt8, {3, 5}, &byte);
  fill(kInt32, {3, 5}, &word);
  fill(kFloat64, {3, 5}, &repeats);
  fill(kFloat64, {1, 1}, &distinct);
  if (GetParam()) fill(kFloat64, {3, 5}, &distinct);
}

TEST_P(CopierTest, BetweenTwoDevices) {
  const Tensor host = Counting({5, 6, 7});
  const Tensor x = OnDevice(host, 0);
  const Tensor y = *Copied(x, {.device = device(1)});
  EXPECT_EQ(y.device(), device(1));
  EXPECT_EQ(Values(y), Values(host));
  const Tensor z = *Tensor::Empty({5, 6, 7}, kInt32, device(1));
  ASSERT_TRUE(CopyInto(Permuted(z), Permuted(x)).ok());
  EXPECT_EQ(Values(z), Values(host));
  // Ordered on a stream of either device.
  for (int at : {0, 1}) {
    const Stream s = MakeStream(at);
    const Tensor w = *Copied(Permuted(x), {.device = device(1), .stream = s});
    EXPECT_EQ(Values(w), Values(*AsContiguous(Permuted(host))));
  }
}

TEST_P(CopierTest, ALaunchHasNoMoreThreadsThanTheVendorAllows) {
  static gpu::VendorTraits traits;
  traits = gpu::kRocmTraits;
  traits.max_launch_threads = 4 * 256 + 255;  // four blocks
  Start({.vendor = &traits, .has_kernels = GetParam()});
  const Tensor host = Counting({2, 15, 8, 8});  // as many blocks as matrices
  const Tensor x = OnDevice(host);
  const Tensor y = *AsContiguous(*x.Transpose(2, 3));
  EXPECT_EQ(Values(y), Values(*host.Transpose(2, 3)));
  EXPECT_EQ(gpu().counts().launches, GetParam() ? 8 : 0);
}

TEST_P(CopierTest, SubByteElementsThatShareBytes) {
  const Tensor host = *Tensor::Empty({5}, kFloat4E2M1Fn);
  auto* bytes = static_cast<unsigned char*>(host.raw_data());
  bytes[0] = 0x21, bytes[1] = 0x43, bytes[2] = 0x05;
  const Tensor x = OnDevice(host);
  Tensor odd = *x.Slice(0, {.step = 2});  // 1, 3, 5
  const Tensor back = *Copied(odd, {.device = Device::Cpu()});
  const auto* got = static_cast<const unsigned char*>(back.raw_data());
  EXPECT_EQ(got[0], 0x31);
  EXPECT_EQ(got[1] & 0xF, 0x5);
  ASSERT_TRUE(CopyInto(odd, *AsContiguous(*host.Slice(0, {.start = 0, .stop = 3}))).ok());
  const Tensor whole = *Copied(x, {.device = Device::Cpu()});
  const auto* now = static_cast<const unsigned char*>(whole.raw_data());
  EXPECT_EQ(now[0], 0x21) << "1, and the 2 between";
  EXPECT_EQ(now[1], 0x42) << "2, and the 4 between";
}

// UndefinedBehaviorSanitizer detects an overflow.
TEST_P(CopierTest, StridesThatNoElementUsesMayBeAnything) {
  const auto between = [](const Tensor& t, int64_t far) {
    const Layout layout =
        *Layout::Strided({1, t.layout().shape(0), 1, t.layout().shape(1), 1},
                         {far, t.layout().stride(0), far, t.layout().stride(1), far});
    return *Tensor::Make(t.storage(), t.byte_offset(), t.dtype(), layout, {});
  };
  for (int64_t far : {INT64_MIN, INT64_MAX, INT64_MAX / 2 + 1}) {
    const Tensor host = Counting({4, 5}), x = OnDevice(host), y = OnDevice(host);
    const Tensor turned = *x.Transpose(0, 1), into = *Tensor::Empty({5, 4}, kInt32, device());
    ASSERT_TRUE(CopyInto(between(into, far), between(turned, far)).ok());
    EXPECT_EQ(Values(into), Values(*host.Transpose(0, 1)));
    // From the host, to the host, between devices, from one element.
    ASSERT_TRUE(CopyInto(between(into, far), between(*host.Transpose(0, 1), far)).ok());
    EXPECT_EQ(Values(*Copied(between(turned, far), {.device = Device::Cpu()})), Values(into));
    EXPECT_EQ(Values(*Copied(between(turned, far), {.device = device(1)})), Values(into));
    ASSERT_TRUE(CopyInto(between(into, far), *Counting({1}).Reshape({})).ok());
    EXPECT_EQ(Values(into), std::vector<int>(20, 0));
    // Packed elements; the host unpacks rows that start within a byte.
    const Tensor packed = *Tensor::Empty({3, 5}, kFloat4E2M1Fn, device());
    const Tensor odd = *packed.Slice(1, {.step = 2});
    EXPECT_TRUE(CopyInto(between(odd, far), *AsContiguous(between(odd, far))).ok());
    // No elements.
    Tensor none =
        *Tensor::Make(x.storage(), 0, kInt32, *Layout::Strided({3, 0, 2}, {far, far, far}), {});
    EXPECT_TRUE(CopyInto(none, none).ok());
    EXPECT_EQ(Copied(none, {.device = device(1)})->num_elements(), 0);
  }
}

TEST_P(CopierTest, RandomViewsArriveWhole) {
  std::mt19937 random(3);
  auto below = [&random](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 30; ++round) {
    const Tensor host = Counting({2 + below(4), 2 + below(5), 2 + below(6)});
    const Tensor x = OnDevice(host);
    const int64_t a = below(3), b = (a + 1 + below(2)) % 3, c = 3 - a - b;
    const int64_t step = below(2) == 0 ? 1 : -1;
    auto view = [&](const Tensor& t) {
      return *t.Permute({a, b, c})->Index(
          {IndexItem::Range({.step = step}), IndexItem::Range({.step = 2})});
    };
    EXPECT_EQ(Values(*AsContiguous(view(x))), Values(view(host)));
    EXPECT_EQ(Values(view(x)), Values(view(host)));
  }
}

TEST_P(CopierTest, AStridedCopyThatTheHostTakesPartInCantBeCaptured) {
  Tensor x = *Tensor::Empty({2, 2}, kInt32, device());
  const Tensor host = Counting({2, 2});
  const Stream s = MakeStream();
  gpu().Finish();
  gpu().BeginCapture(s.native(), 0);
  EXPECT_THAT(CopyInto(x, *host.Transpose(0, 1), {.stream = s}).message(),
              HasSubstr("captured into a graph"));
  EXPECT_TRUE(gpu().EndCapture(s.native(), 0));
}

}  // namespace
}  // namespace dovetail
