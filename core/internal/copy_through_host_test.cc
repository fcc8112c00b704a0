// Copies between two devices whose backends know nothing of each other.

#include "dovetail/core/internal/copy_through_host.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::Contains;

constexpr Device kOpaque{DeviceType::kOpenCL, 0};
const Device kOther = Device::Rocm(0);

// Memory of a device whose tensors are opaque handles.
struct Buffer {
  std::vector<unsigned char> bytes;
};

// Copies dense elements at once, and refuses what reaches beyond a buffer.
class QuickBackend : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override {
    if (copies_left == 0) return absl::AbortedError("The device is gone.");
    --copies_left;
    const int64_t bits = StepBits(dst.dtype, dst.packing);
    if (bits % 8 != 0 || StepBits(src.dtype, src.packing) != bits || dst.rank() != 1 ||
        dst.strides[0] != 1 || src.strides[0] != 1) {
      return FakeBackend::Copy(Resolved(dst), Resolved(src), stream);
    }
    const int64_t nbytes = dst.shape[0] * bits / 8;
    for (const TensorView* view : {&dst, &src}) {
      if (view->device != kOpaque) continue;
      const auto size = static_cast<int64_t>(static_cast<Buffer*>(view->data)->bytes.size());
      if (view->byte_offset + nbytes > size) return absl::OutOfRangeError("beyond the buffer");
    }
    std::memcpy(Resolved(dst).data, Resolved(src).data, static_cast<size_t>(nbytes));
    return absl::OkStatus();
  }
  int copies_left = 1000;

 private:
  static TensorView Resolved(TensorView view) {
    if (view.device != kOpaque) return view;
    view.data = static_cast<Buffer*>(view.data)->bytes.data() + view.byte_offset;
    view.byte_offset = 0;
    return view;
  }
};

class OpaqueBackend final : public QuickBackend {
 public:
  using QuickBackend::QuickBackend;
  absl::StatusOr<Allocator*> GetAllocator(Device, MemoryKind kind) override {
    if (kind != MemoryKind::kDevice) return absl::InvalidArgumentError("Device memory only.");
    return &allocator_;
  }

 private:
  class Buffers final : public Allocator {
   public:
    absl::StatusOr<void*> Allocate(size_t nbytes, const Stream&) override {
      return new Buffer{std::vector<unsigned char>(nbytes, kUnwritten)};
    }
    void Deallocate(void* data, size_t, std::unique_ptr<Uses>) noexcept override {
      delete static_cast<Buffer*>(data);
    }
  };
  Buffers allocator_;
};

class CopyThroughHostTest : public testing::Test {
 protected:
  CopyThroughHostTest() {
    auto other =
        std::make_unique<QuickBackend>(std::vector<DeviceType>{DeviceType::kRocm}, &other_log);
    other_backend = other.get();
    scopes.push_back(std::make_unique<ScopedBackendOverride>(std::move(other)));
    scopes.push_back(std::make_unique<ScopedBackendOverride>(std::make_unique<OpaqueBackend>(
        std::vector<DeviceType>{DeviceType::kOpenCL}, &opaque_log)));
    scopes.push_back(std::make_unique<ScopedBackendOverride>(
        std::make_unique<QuickBackend>(std::vector<DeviceType>{DeviceType::kCpu}, &cpu_log)));
  }

  // Bytes that differ from one MiB to the next.
  static Tensor Numbers(int64_t count) {
    const Tensor t = *Tensor::Empty({count}, kInt32);
    for (int64_t i = 0; i < count; ++i) static_cast<int32_t*>(t.raw_data())[i] = i * 1664525;
    return t;
  }
  static std::vector<int32_t> Values(const Tensor& t) {
    const Tensor host = *Copied(t, {.device = Device::Cpu()});
    const auto* data = static_cast<const int32_t*>(host.raw_data());
    return {data, data + host.num_elements()};
  }

  FakeLog other_log, opaque_log, cpu_log;
  QuickBackend* other_backend;
  std::vector<std::unique_ptr<ScopedBackendOverride>> scopes;
};

TEST_F(CopyThroughHostTest, OpaqueMemoryOfManyPiecesIsCopiedEitherWay) {
  const Tensor numbers = Numbers((5 << 20) / 2 + 3);  // 10 MB
  const Tensor there = *Copied(numbers, {.device = kOpaque});
  const Tensor other = *Copied(there, {.device = kOther});
  EXPECT_EQ(Values(other), Values(numbers));
  const Tensor back = *Copied(other, {.device = kOpaque});
  EXPECT_EQ(Values(back), Values(numbers));
}

TEST_F(CopyThroughHostTest, APartOfAnOpaqueBufferIsCopiedFromAndToItsOffset) {
  const Tensor numbers = Numbers(100);
  const Tensor there = *Copied(numbers, {.device = kOpaque});
  const SliceSpec part = {.start = 40, .stop = 90};
  EXPECT_EQ(Values(*Copied(*there.Slice(0, part), {.device = kOther})),
            Values(*numbers.Slice(0, part)));
  const Tensor other = *Copied(*numbers.Slice(0, {.stop = 50}), {.device = kOther});
  ASSERT_TRUE(CopyInto(*there.Slice(0, part), other).ok());
  const std::vector<int32_t> before = Values(numbers), after = Values(there);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after[i], before[i >= 40 && i < 90 ? i - 40 : i]) << i;
}

TEST_F(CopyThroughHostTest, PaddedAndPackedElementsAreCopiedIntoEachOther) {
  // An endless recursion ends the process.
  const auto copy = [&](Packing from, Packing to) {
    const auto make = [](Device device, Packing packing) {
      return *Tensor::Make(*Storage::Allocate(5, device), 0, kUInt4, *Layout::Contiguous({5}),
                           {.packing = packing});
    };
    const Tensor host = make(Device::Cpu(), Packing::kPadded);
    std::memcpy(host.raw_data(), "\1\2\3\4\5", 5);
    const Tensor src = make(kOther, from), dst = make(kOpaque, to);
    Tensor back = make(Device::Cpu(), Packing::kPadded);
    bool ok = CopyInto(Tensor(src), host).ok() && CopyInto(Tensor(dst), src).ok() &&
              CopyInto(back, dst).ok();
    const auto* bytes = static_cast<const unsigned char*>(back.raw_data());
    for (int i = 0; i < 5; ++i) ok = ok && (bytes[i] & 15) == i + 1;
    std::_Exit(ok ? 0 : 1);
  };
  for (const Packing from : {Packing::kPacked, Packing::kPadded}) {
    for (const Packing to : {Packing::kPacked, Packing::kPadded}) {
      EXPECT_EXIT(copy(from, to), testing::ExitedWithCode(0), "")
          << "from " << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST_F(CopyThroughHostTest, TheElementsThatShareTheLastByteStay) {
  const Tensor host = *Tensor::Empty({8}, kUInt4);
  std::memset(host.raw_data(), 0x77, 4);
  const Tensor dst = *Copied(host, {.device = kOther});
  std::memset(host.raw_data(), 0x11, 4);
  const Tensor src = *Copied(host, {.device = kOpaque});
  ASSERT_TRUE(CopyInto(*dst.Slice(0, {.stop = 5}), *src.Slice(0, {.stop = 5})).ok());
  const Tensor back = *Copied(dst, {.device = Device::Cpu()});
  EXPECT_EQ(std::string(static_cast<const char*>(back.raw_data()), 4), "\x11\x11\x71\x77");
}

TEST_F(CopyThroughHostTest, LayoutsWithGapsAndRepeatsAreCopied) {
  const Tensor numbers = *Numbers(24).Reshape({4, 6});
  const Tensor src = *Copied(numbers, {.device = kOther});
  const Tensor dst = *Copied(numbers, {.device = kOpaque});
  ASSERT_TRUE(CopyInto(*dst.Slice(1, {.step = 2}), *src.Slice(1, {.stop = 3})).ok());
  EXPECT_EQ(Values(*dst.Slice(1, {.step = 2})), Values(*numbers.Slice(1, {.stop = 3})));
  EXPECT_EQ(Values(*dst.Slice(1, {.start = 1, .step = 2})),
            Values(*numbers.Slice(1, {.start = 1, .step = 2})));
  ASSERT_TRUE(CopyInto(Tensor(dst), *src.Select(0, 2)).ok());
  EXPECT_EQ(Values(dst), Values(*numbers.Select(0, 2)->BroadcastTo({4, 6})));
}

TEST_F(CopyThroughHostTest, BlocksThatACopyMayStillReadAreKeptUntilItIsDone) {
  const Tensor there = *Copied(Numbers(3 << 20), {.device = kOpaque});  // three pieces
  Tensor other = *Tensor::Empty({3 << 20}, kInt32, kOther);
  other_log.synchronized.clear();
  other_backend->copies_left = 1;
  EXPECT_EQ(CopyInto(other, there).code(), absl::StatusCode::kAborted);
  EXPECT_THAT(other_log.synchronized, Contains(Stream::Default(kOther)));
}

}  // namespace
}  // namespace dovetail
