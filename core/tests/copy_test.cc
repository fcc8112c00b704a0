#include "dovetail/core/copy.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CopyTest : public testing::Test {
 protected:
  FakeLog log;
  ScopedBackendOverride fake{std::make_unique<FakeBackend>(
      std::vector<DeviceType>{DeviceType::kCpu, DeviceType::kCuda}, &log)};

  template <typename T>
  static Tensor Over(std::vector<T>& values, const std::vector<int64_t>& shape) {
    return *Tensor::Make(
        Storage::Adopt(values.data(), values.size() * sizeof(T), Device::Cpu(), {}), 0, dtype_of<T>,
        *Layout::Contiguous(shape), {});
  }
  static Tensor OverBytes(unsigned char* bytes, size_t nbytes, DType dtype, int64_t count,
                          Packing packing) {
    return *Tensor::Make(Storage::Adopt(bytes, nbytes, Device::Cpu(), {}), 0, dtype,
                         *Layout::Contiguous({count}), {.packing = packing});
  }
};

TEST_F(CopyTest, BroadcastsTheSourceOverTheDestination) {
  std::vector<int32_t> to(6, -1), from = {7, 8, 9};
  ASSERT_TRUE(CopyInto(Over(to, {2, 3}), Over(from, {3})).ok());
  EXPECT_THAT(to, ElementsAre(7, 8, 9, 7, 8, 9));
}

TEST_F(CopyTest, CopyIntoTakesATensorOrAViewOfOne) {
  std::vector<int32_t> to(4, -1), from = {7, 8};
  Tensor dst = Over(to, {2, 2});
  ASSERT_TRUE(CopyInto(dst, Over(from, {2})).ok());
  EXPECT_THAT(to, ElementsAre(7, 8, 7, 8));
  ASSERT_TRUE(CopyInto(*dst.Select(0, 1), *dst.Select(1, 1)).ok());
  EXPECT_THAT(to, ElementsAre(7, 8, 8, 8));
  Tensor read_only = dst.ReadOnly();
  EXPECT_EQ(CopyInto(read_only, dst).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CopyTest, CopiedIsNewMemoryInTheOrderAsked) {
  std::vector<int32_t> values = {0, 1, 2, 3, 4, 5};
  const Tensor src = Over(values, {2, 3}).ReadOnly();
  const Tensor same = *Copied(src);
  EXPECT_NE(same.raw_data(), src.raw_data());
  EXPECT_FALSE(same.is_read_only());
  EXPECT_THAT(*same.span<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
  const Tensor columns = *Copied(src, {.order = MemoryOrder::kF});
  EXPECT_THAT(columns.strides(), ElementsAre(1, 2));
  EXPECT_EQ(**columns.at<int32_t>({1, 2}), 5);
  EXPECT_EQ(Copied(src, {.device = Device::Cuda(0)})->device(), Device::Cuda(0));
}

TEST_F(CopyTest, MismatchedArgumentsAreRefusedAndNothingIsWritten) {
  std::vector<int32_t> to(6, -1), from = {7, 8};
  Tensor dst = Over(to, {2, 3});
  EXPECT_EQ(CopyInto(dst, Over(from, {2})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CopyInto(dst.ReadOnly(), dst).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(log.copied_on, IsEmpty());
  EXPECT_EQ(to, std::vector<int32_t>(6, -1));
}

TEST_F(CopyTest, OverlapIsAsIfTheSourceHadBeenCopiedFirst) {
  std::vector<int32_t> values = {0, 1, 2, 3, 4, 5};
  Tensor t = Over(values, {6});
  ASSERT_TRUE(CopyInto(*t.Slice(0, {.start = 1}), *t.Slice(0, {.stop = 5})).ok());
  EXPECT_THAT(values, ElementsAre(0, 0, 1, 2, 3, 4));
  ASSERT_TRUE(CopyInto(t, *t.Slice(0, {.step = -1})).ok());
  EXPECT_THAT(values, ElementsAre(4, 3, 2, 1, 0, 0));
  std::vector<int32_t> square = {0, 1, 2, 3};
  Tensor m = Over(square, {2, 2});
  ASSERT_TRUE(CopyInto(m, *m.Transpose(0, 1)).ok());
  EXPECT_THAT(square, ElementsAre(0, 2, 1, 3));
}

TEST_F(CopyTest, AdjacentTensorsAreCopiedWithoutATemporary) {
  std::vector<int32_t> values = {0, 1, 2, 3};
  Tensor t = Over(values, {4});
  ASSERT_TRUE(CopyInto(*t.Slice(0, {.start = 2}), *t.Slice(0, {.stop = 2})).ok());
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 1));
  ASSERT_TRUE(CopyInto(*t.Slice(0, {.stop = 1}), *t.Slice(0, {.start = 1, .stop = 2})).ok());
  EXPECT_THAT(values, ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(log.allocated, 0);
}

TEST_F(CopyTest, ANullTensorOnEitherSideIsFailedPrecondition) {
  std::vector<int32_t> values = {0, 1};
  Tensor t = Over(values, {2}), null;
  for (const absl::Status& status :
       {CopyInto(t, null), CopyInto(null, t), CopyInto(null, null), Fill(null, values.data()),
        Copied(null, {.device = Device::Cpu()}).status(), Copied(null, {}).status(),
        Copied(null).status(), CopyInto(Tensor(), t), AsContiguous(null).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  }
}

TEST_F(CopyTest, TensorsThatShareOneByteAreCopiedThroughATemporary) {
  const auto copy = [&](int64_t dst, int64_t src) {
    std::vector<uint8_t> values = {0, 1, 2, 3, 4, 5, 6};
    Tensor t = Over(values, {7});
    log.allocated = 0;
    EXPECT_TRUE(CopyInto(*t.Slice(0, {.start = dst, .stop = dst + 4}),
                         *t.Slice(0, {.start = src, .stop = src + 4}))
                    .ok());
    EXPECT_EQ(log.allocated, 1);
    return values;
  };
  EXPECT_THAT(copy(3, 0), ElementsAre(0, 1, 2, 0, 1, 2, 3));
  EXPECT_THAT(copy(0, 3), ElementsAre(3, 4, 5, 6, 4, 5, 6));
}

TEST_F(CopyTest, NothingIsCopiedWhereThereAreNoElements) {
  std::vector<int32_t> none;
  Tensor t = *Tensor::Make(Storage::Adopt(nullptr, 0, Device::Cpu(), {}), 0, kInt32,
                           *Layout::Contiguous({0, 3}), {});
  EXPECT_TRUE(CopyInto(t, t).ok());
  EXPECT_EQ(Copied(t, {.device = Device::Cuda(0)})->num_elements(), 0);
  EXPECT_THAT(log.copied_on, IsEmpty());
}

TEST_F(CopyTest, FillWritesOneElementEverywhereAndNowhereElse) {
  std::vector<int32_t> values = {0, 1, 2, 3, 4, 5};
  const int32_t nine = 9;
  ASSERT_TRUE(Fill(*Over(values, {6}).Slice(0, {.step = 2}), &nine).ok());
  EXPECT_THAT(values, ElementsAre(9, 1, 9, 3, 9, 5));
  EXPECT_EQ(Fill(Over(values, {6}).ReadOnly(), &nine).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(CopyTest, FillOfPackedElementsKeepsTheBitsBeyond) {
  unsigned char bytes[2] = {0xff, 0xff};
  const unsigned char code = 5;
  ASSERT_TRUE(Fill(OverBytes(bytes, 2, kInt4, 3, Packing::kPacked), &code).ok());
  EXPECT_EQ(bytes[0], 0x55);
  EXPECT_EQ(bytes[1], 0xf5);
}

TEST_F(CopyTest, PackedAndPaddedElementsAreTheSameElements) {
  unsigned char padded[5] = {1, 2, 3, 4, 5}, packed[3] = {};
  ASSERT_TRUE(CopyInto(OverBytes(packed, 3, kUInt4, 5, Packing::kPacked),
                       OverBytes(padded, 5, kUInt4, 5, Packing::kPadded))
                  .ok());
  EXPECT_THAT(packed, ElementsAre(0x21, 0x43, 0x05));
  unsigned char back[5] = {};
  ASSERT_TRUE(CopyInto(OverBytes(back, 5, kUInt4, 5, Packing::kPadded),
                       OverBytes(packed, 3, kUInt4, 5, Packing::kPacked))
                  .ok());
  EXPECT_THAT(back, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(CopyTest, CopyToIsNewDenseWritableMemoryOnTheDevice) {
  std::vector<int32_t> values = {0, 1, 2, 3, 4, 5};
  const Tensor src = Over(values, {2, 3}).Transpose(0, 1)->ReadOnly();
  const Tensor y = *Copied(src, {.device = Device::Cuda(1)});
  EXPECT_EQ(y.device(), Device::Cuda(1));
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_FALSE(y.is_read_only());
  int32_t seen[6];
  std::memcpy(seen, y.raw_data(), sizeof seen);
  EXPECT_THAT(seen, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(Copied(src, {.device = Device::Rocm(0)}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CopyTest, ContiguousCopiesOnlyWhatHasGaps) {
  std::vector<int32_t> values = {0, 1, 2, 3, 4, 5};
  Tensor t = Over(values, {2, 3});
  EXPECT_EQ(AsContiguous(t)->storage(), t.storage());
  const Tensor dense = *AsContiguous(*t.Slice(1, {.step = 2}));
  EXPECT_NE(dense.storage(), t.storage());
  EXPECT_THAT(std::vector<int32_t>(*dense.data<int32_t>(), *dense.data<int32_t>() + 4),
              ElementsAre(0, 2, 3, 5));
}

// A backend whose copies run when the host waits for their stream.
class LateBackend final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override {
    pending_.push_back({dst,
                        src,
                        {dst.shape.begin(), dst.shape.end()},
                        {dst.strides.begin(), dst.strides.end()},
                        {src.strides.begin(), src.strides.end()},
                        stream});
    return absl::OkStatus();
  }
  absl::Status Synchronize(const Stream& stream) override {
    for (Pending& p : pending_) {
      if (!(p.stream == stream)) continue;
      p.dst.shape = p.src.shape = p.shape;
      p.dst.strides = p.dst_strides;
      p.src.strides = p.src_strides;
      NaiveCopy(p.dst, p.src);
    }
    std::erase_if(pending_, [&](const Pending& p) { return p.stream == stream; });
    return FakeBackend::Synchronize(stream);
  }

 private:
  struct Pending {
    TensorView dst, src;
    std::vector<int64_t> shape, dst_strides, src_strides;
    Stream stream;
  };
  std::vector<Pending> pending_;
};

// Also where the destination is memory of the host, which backends of devices do not fill.
TEST_F(CopyTest, AFillReadsItsElementDuringTheCall) {
  ScopedBackendOverride late{std::make_unique<LateBackend>(
      std::vector<DeviceType>{DeviceType::kCuda, DeviceType::kCudaHost}, &log)};
  const Stream stream = FakeStream(Device::Cuda(0), 5);
  for (const Device device : {Device::Cuda(0), Device{DeviceType::kCudaHost, 0}, Device::Cpu()}) {
    std::vector<int32_t> values(2, -1);
    const std::vector<int64_t> shape = {2}, strides = {1};
    const Tensor t = *Tensor::Wrap(values.data(), shape, strides, device, [] {});
    std::vector<int32_t> element = {9};
    ASSERT_TRUE(Fill(Tensor(t), element.data(), {.stream = stream}).ok());
    element = {0};
    ASSERT_TRUE(Registry::Global().Find(DeviceType::kCuda)->Synchronize(stream).ok());
    EXPECT_THAT(values, ElementsAre(9, 9));
    EXPECT_THAT(element, ElementsAre(0));
  }
  for (const Release& release : log.late) release.function(release.context);
}

// Rule 42.
TEST_F(CopyTest, WithoutAStreamTheWorkIsDoneOnReturn) {
  std::vector<int32_t> values = {0, 1};
  const Tensor src = Over(values, {2});
  const Tensor y = *Copied(src, {.device = Device::Cuda(1)});
  const Stream standard = Stream::Default(Device::Cuda(1));
  EXPECT_THAT(log.copied_on, ElementsAre(standard));
  EXPECT_THAT(log.synchronized, ElementsAre(standard));
}

TEST_F(CopyTest, BetweenDevicesTheHostDoesNotWait) {
  std::vector<int32_t> values = {0, 1};
  const Tensor x = *Copied(Over(values, {2}), {.device = Device::Cuda(0)});
  const size_t before = log.synchronized.size();
  StreamScope scope(FakeStream(Device::Cuda(0), 3));
  const Tensor y = *Copied(x, {.device = Device::Cuda(0)});
  EXPECT_EQ(log.synchronized.size(), before);
  EXPECT_EQ(log.copied_on.back(), CurrentStream(Device::Cuda(0)));
  EXPECT_THAT(log.waited, ElementsAre(CurrentStream(Device::Cuda(0)))) << "for the copy before";
}

// Rule 40.
TEST_F(CopyTest, WithAStreamTheWorkIsOrderedThereAndNotWaitedFor) {
  std::vector<int32_t> values = {0, 1};
  const Stream stream = Stream::Borrow(Device::Cuda(0), NativeStream{5});
  const Tensor x = *Copied(Over(values, {2}), {.device = Device::Cuda(0)});
  log.copied_on.clear(), log.synchronized.clear();
  const Tensor y = *Copied(x, {.stream = stream});
  EXPECT_THAT(log.copied_on, ElementsAre(stream));
  EXPECT_THAT(log.synchronized, IsEmpty());
}

// Other libraries lend pinned memory as the CPU's, and may free it after the call.
TEST_F(CopyTest, WithMemoryOfTheCpuTheHostWaitsWhateverTheStream) {
  std::vector<int32_t> values = {0, 1};
  const Stream stream = Stream::Borrow(Device::Cuda(0), NativeStream{5});
  const Tensor x = *Copied(Over(values, {2}), {.device = Device::Cuda(0), .stream = stream});
  EXPECT_THAT(log.synchronized, ElementsAre(stream));
  const Tensor back = *Copied(x, {.device = Device::Cpu(), .stream = stream});
  EXPECT_THAT(log.synchronized, ElementsAre(stream, stream));
}

TEST_F(CopyTest, ACopyThatFailsHalfWayIsAUseOfBothSides) {
  const Tensor x = *Tensor::Empty({2}, kInt32, Device::Cuda(0));
  const Tensor y = *Tensor::Empty({2}, kInt32, Device::Cuda(0));
  const Stream stream = FakeStream(Device::Cuda(0), 7);
  log.copy_fails = true;
  EXPECT_FALSE(CopyInto(Tensor(y), x, {.stream = stream}).ok());
  EXPECT_THAT(x.storage()->used_on(), Contains(stream));
  EXPECT_THAT(y.storage()->used_on(), Contains(stream));
}

}  // namespace
}  // namespace dovetail
