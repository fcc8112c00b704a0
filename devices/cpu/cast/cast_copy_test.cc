#include "dovetail/devices/cpu/cast/cast_copy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/devices/cpu/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The CPU backend, and a fake backend for a device without casts.
class CastCopyTest : public testing::Test {
 protected:
  ScopedBackendOverride cpu{MakeCpuBackend()};
  FakeLog log;
  ScopedBackendOverride fake{
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log)};

  template <typename T>
  static Tensor Over(std::vector<T>& values, const std::vector<int64_t>& shape) {
    return *Tensor::Make(
        Storage::Adopt(values.data(), values.size() * sizeof(T), Device::Cpu(), {}), 0, dtype_of<T>,
        *Layout::Contiguous(shape), {});
  }
};

// The elements in row-major order, as doubles.
std::vector<double> Values(const Tensor& t) {
  std::vector<double> values;
  std::vector<int64_t> at(t.rank(), 0);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (int d = t.rank() - 1; d >= 0; --d) {
      offset += rest % t.layout().shape(d) * t.layout().stride(d);
      rest /= t.layout().shape(d);
    }
    const ElementValue value =
        ReadElement(t.raw_data(), offset * StepBits(t.dtype(), t.packing()), t.dtype());
    values.push_back(std::visit(
        [](auto v) -> double {
          if constexpr (std::is_arithmetic_v<decltype(v)>) return static_cast<double>(v);
          return 0;
        },
        value));
  }
  return values;
}

// A view of small whole numbers with random gaps, order and direction.
class RandomView {
 public:
  explicit RandomView(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t end) { return static_cast<int64_t>(random_() % end); }
  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape(Below(5));
    int64_t count = 1;
    for (int64_t& size : shape) {
      size = Below(8) == 0 && count < 20 ? 1 + Below(90) : 1 + Below(7);
      count *= size;
    }
    return shape;
  }
  Tensor Make(const std::vector<int64_t>& shape, DType dtype, bool may_repeat) {
    const int rank = static_cast<int>(shape.size());
    std::vector<int64_t> order(rank), strides(rank);
    for (int i = 0; i < rank; ++i) order[i] = i;
    if (Below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    int64_t step = Below(4) == 0 && !dtype.is_sub_byte() ? 2 : 1;
    int64_t lowest = 0, highest = 0;
    for (int i = rank - 1; i >= 0; --i) {
      const int64_t size = shape[order[i]];
      int64_t& stride = strides[order[i]];
      stride = step;
      if (!dtype.is_sub_byte()) {
        if (Below(4) == 0) stride = -stride;
        if (may_repeat && Below(6) == 0) stride = 0;
      }
      (stride < 0 ? lowest : highest) += stride * (size - 1);
      step *= size;
      if (!dtype.is_sub_byte() && Below(4) == 0) step += 1 + Below(3);
    }
    const int64_t count = highest - lowest + 1;
    const Tensor memory = *Tensor::Empty({count}, dtype);
    std::memset(memory.raw_data(), 0, memory.nbytes());
    for (int64_t i = 0; i < count; ++i) {
      const ElementValue value = static_cast<int64_t>(dtype.bits > 4 ? 1 + i % 7 : 1);
      EXPECT_TRUE(WriteElement(memory.raw_data(), i * dtype.bits, dtype, value).ok());
    }
    return *Tensor::Make(memory.storage(), -lowest * dtype.itemsize(), dtype,
                         *Layout::Strided(shape, strides), {});
  }

 private:
  std::mt19937 random_;
};

TEST_F(CastCopyTest, AnyLayoutIsCastIntoAnyOther) {
  const DType types[] = {kBool,    kInt8,         kInt64,  kFloat16, kBFloat16, kFloat32,
                         kFloat64, kFloat8E4M3Fn, kUInt16, kInt4,    kUInt2,    kFloat4E2M1Fn};
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    RandomView random(seed);
    const std::vector<int64_t> shape = random.Shape();
    const DType from = types[random.Below(std::size(types))];
    const DType to = types[random.Below(std::size(types))];
    Tensor src = random.Make(shape, from, /*may_repeat=*/true);
    Tensor dst = random.Make(shape, to, /*may_repeat=*/false);
    const std::vector<double> expected = Values(src);
    ASSERT_TRUE(CopyInto(dst, src).ok());
    std::vector<double> seen = Values(dst);
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t i = 0; i < seen.size(); ++i) {
      double number = expected[i];
      if (to == kBool) number = number != 0;
      if (to == kUInt2) number = static_cast<int>(number) % 4;
      if (to == kFloat4E2M1Fn && number == 5) number = 4;  // a tie, to even
      if (to == kFloat4E2M1Fn && number == 7) number = 6;
      ASSERT_EQ(seen[i], number) << "seed " << seed << ": " << src << " to " << dst;
    }
  }
}

TEST_F(CastCopyTest, LargeTransposesAndRowsAreCastWhole) {
  std::vector<float> numbers(300 * 517);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 251);
  Tensor src = Over(numbers, {300, 517});
  for (const Tensor& view : {src, *src.Transpose(0, 1), *src.Slice(1, {.start = 3, .stop = 500}),
                             *src.Slice(1, {.step = -2})}) {
    for (MemoryOrder order : {MemoryOrder::kC, MemoryOrder::kF, MemoryOrder::kK}) {
      const Tensor cast = *Copied(view, {.dtype = kUInt8, .order = order});
      EXPECT_EQ(Values(cast), Values(view));
    }
  }
}

// Lines with gaps on either side, with steps of each length, and planes: by elements, by tiles and
// by masked stores.
TEST_F(CastCopyTest, LongLinesWithGapsAreCastAndNothingBetweenThemIsWritten) {
  constexpr int64_t kCount = 700;
  std::vector<float> numbers(12 * kCount);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 253);
  for (DType to : {kUInt8, kInt16, kFloat32, kFloat64, kBFloat16}) {
    for (int64_t src_step : {1, 2, 5}) {
      for (int64_t dst_step : {1, 2, 3, 4, 7, 11}) {
        Tensor src =
            *Over(numbers, {12 * kCount}).Slice(0, {.stop = src_step * kCount, .step = src_step});
        const Tensor all = *Tensor::Empty({dst_step * kCount}, to);
        std::memset(all.raw_data(), 1, all.nbytes());
        const std::vector<double> before = Values(all);
        Tensor dst = *all.Slice(0, {.step = dst_step});
        ASSERT_TRUE(CopyInto(dst, src).ok());
        EXPECT_EQ(Values(dst), Values(src)) << to << ", " << src_step << " to " << dst_step;
        const std::vector<double> after = Values(all);
        for (size_t i = 0; i < after.size(); ++i) {
          if (i % dst_step == 0) continue;
          ASSERT_EQ(after[i], before[i]) << to << " at " << i;
        }
      }
    }
  }
}

TEST_F(CastCopyTest, PlanesAreTakenApartAndPutTogether) {
  std::vector<float> numbers(9 * 3000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 251);
  for (int64_t planes : {2, 3, 5, 9}) {
    const Tensor pixels = *Over(numbers, {9 * 3000}).Slice(0, {.stop = planes * 3000});
    const Tensor apart = *pixels.Reshape({3000, planes})->Transpose(0, 1);
    const Tensor together = *pixels.Reshape({planes, 3000})->Transpose(0, 1);
    for (DType to : {kUInt8, kInt32, kFloat64, kFloat16}) {
      for (const Tensor& view : {apart, together}) {
        const Tensor cast = *Copied(view, {.dtype = to, .order = MemoryOrder::kC});
        EXPECT_EQ(Values(cast), Values(view)) << planes << " planes of " << to;
      }
    }
  }
}

TEST_F(CastCopyTest, NothingIsWrittenBetweenTheElements) {
  std::vector<int16_t> to(9, -1);
  std::vector<float> from = {1, 2, 3};
  ASSERT_TRUE(CopyInto(*Over(to, {9}).Slice(0, {.start = 1, .step = 3}), Over(from, {3})).ok());
  EXPECT_THAT(to, ElementsAre(-1, 1, -1, -1, 2, -1, -1, 3, -1));
}

TEST_F(CastCopyTest, TheSourceIsBroadcast) {
  std::vector<double> to(6);
  std::vector<int8_t> from = {7, -8, 9};
  ASSERT_TRUE(CopyInto(Over(to, {2, 3}), Over(from, {3})).ok());
  EXPECT_THAT(to, ElementsAre(7, -8, 9, 7, -8, 9));
  ASSERT_TRUE(CopyInto(Over(to, {2, 3}), *Over(from, {3}).Select(0, 1)).ok());
  EXPECT_THAT(to, ElementsAre(-8, -8, -8, -8, -8, -8));
}

TEST_F(CastCopyTest, OverlapIsAsIfTheSourceHadBeenCopiedFirst) {
  std::vector<int32_t> memory = {1, 2, 3, 4};
  const Tensor ints = Over(memory, {4});
  Tensor floats = *Tensor::Make(ints.storage(), 0, kFloat32, *Layout::Contiguous({4}), {});
  ASSERT_TRUE(CopyInto(floats, *ints.Slice(0, {.step = -1})).ok());
  EXPECT_EQ(Values(floats), (std::vector<double>{4, 3, 2, 1}));
}

TEST_F(CastCopyTest, EqualTypesAreCopied) {
  std::vector<float> to(2), from = {0.5f, -0.0f};
  ASSERT_TRUE(CopyInto(Over(to, {2}), Over(from, {2})).ok());
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 8), 0);
}

TEST_F(CastCopyTest, LanesAreCastOneByOne) {
  std::vector<float> from = {1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor pairs = *Tensor::Make(Storage::Adopt(from.data(), 32, Device::Cpu(), {}), 0,
                                     {TypeKind::kFloat, 32, 2}, *Layout::Contiguous({4}), {});
  const Tensor cast =
      *Copied(*pairs.Slice(0, {.step = 2}), {.dtype = DType{TypeKind::kInt, 16, 2}});
  int16_t seen[4];
  std::memcpy(seen, cast.raw_data(), sizeof seen);
  EXPECT_THAT(seen, ElementsAre(1, 2, 5, 6));
}

// Elements with lanes that fill bytes are never padded, whatever a view says.
TEST_F(CastCopyTest, LanesOfLessThanAByteAreCastOneByOne) {
  constexpr int64_t kCount = 4;
  for (const DType narrow :
       {DType{TypeKind::kFloat4E2M1Fn, 4, 2}, DType{TypeKind::kFloat6E2M3Fn, 6, 4}}) {
    const DType wide{TypeKind::kFloat, 32, narrow.lanes};
    std::vector<float> numbers(kCount * narrow.lanes);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(1 + i % 4);
    // (Behind what the elements take, AddressSanitizer sees every access.)
    std::vector<unsigned char> bytes(kCount * narrow.itemsize());
    const auto over = [&](auto& memory, DType dtype) {
      return *Tensor::Make(
          Storage::Adopt(memory.data(), kCount * dtype.itemsize(), Device::Cpu(), {}), 0, dtype,
          *Layout::Contiguous({kCount}), {});
    };
    const Tensor to = over(bytes, narrow), from = over(numbers, wide);
    TensorView padded = to.view();
    padded.packing = Packing::kPadded;
    ASSERT_TRUE(CastStrided(padded, from.view()).ok());
    const Tensor packed = *Copied(from, {.dtype = narrow});
    EXPECT_EQ(std::memcmp(bytes.data(), packed.raw_data(), bytes.size()), 0);
    std::vector<float> back(numbers.size());
    ASSERT_TRUE(CastStrided(over(back, wide).view(), padded).ok());
    EXPECT_EQ(back, numbers);
  }
}

TEST_F(CastCopyTest, WhatCannotBeCastIsRefusedAndNothingIsWritten) {
  std::vector<std::complex<float>> complex(2);
  std::vector<float> real = {1, 2};
  std::vector<double> three(3, -1);
  absl::Status status = CopyInto(Over(real, {2}), Over(complex, {2}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("complex64 to float32, which would lose"));
  EXPECT_EQ(CopyInto(Over(three, {3}), Over(real, {2})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CopyInto(Over(three, {3}).ReadOnly(), Over(real, {2})).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(real, ElementsAre(1, 2));
  EXPECT_THAT(three, ElementsAre(-1, -1, -1));
}

// UndefinedBehaviorSanitizer reports an overflow.
TEST_F(CastCopyTest, StridesThatNoElementUsesMayBeAnything) {
  const auto cast = [](const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                       DType from, DType to) {
    const Tensor like = *Tensor::Empty(shape, from), out = *Tensor::Empty(shape, to);
    std::fill_n(static_cast<char*>(like.raw_data()), like.nbytes(), 0x22);  // 1 in float4
    TensorView src = like.view(), dst = out.view();
    src.strides = dst.strides = strides;
    EXPECT_TRUE(CastStrided(dst, src).ok());
    return Values(out);
  };
  for (int64_t far : {INT64_MIN, INT64_MAX, INT64_MAX / 2 + 1}) {
    for (uint16_t lanes : {1, 2, 3}) {
      const DType from{TypeKind::kInt, 8, lanes}, to{TypeKind::kInt, 32, lanes};
      EXPECT_EQ(cast({1, 3, 1}, {far, 1, far}, from, to).size(), 3u);
      EXPECT_EQ(cast({1, 1}, {far, far}, from, to).size(), 1u);
      EXPECT_EQ(cast({3, 0}, {far, far}, from, to).size(), 0u);
    }
    const std::vector<double> ones(3, 1), numbers(3, 34);
    EXPECT_EQ(cast({1, 3, 1}, {far, 1, far}, kInt8, kFloat32), numbers);
    EXPECT_EQ(cast({3, 1}, {1, far}, kFloat4E2M1Fn, kFloat32), ones);
    EXPECT_EQ(cast({1, 3}, {far, 1}, kFloat4E2M1Fn, kFloat6E3M2Fn), ones);
    EXPECT_EQ(cast({1, 600}, {far, 1}, kInt8, kFloat32).back(), 34);
    EXPECT_EQ(cast({30, 1, 20}, {20, far, 1}, kInt8, kFloat64).back(), 34);
    EXPECT_EQ(cast({20, 1, 30}, {1, far, 20}, kInt8, kFloat32).size(), 600u);
  }
}

TEST_F(CastCopyTest, NoElementsAreCastToNone) {
  EXPECT_EQ(Copied(*Tensor::Empty({0, 3}, kFloat32), {.dtype = kInt8})->num_elements(), 0);
}

TEST_F(CastCopyTest, TheHostCastsForADeviceWithoutCasts) {
  std::vector<float> from = {1.5f, -2.5f, 3.0f};
  Tensor src = Over(from, {3});
  const Tensor there = *Copied(src, {.dtype = kFloat16, .device = Device::Cuda(0)});
  EXPECT_EQ(there.device(), Device::Cuda(0));
  EXPECT_EQ(there.dtype(), kFloat16);
  const Tensor other = *Copied(there, {.dtype = kInt32, .device = Device::Cuda(1)});
  const Tensor back = *Copied(other, {.dtype = kFloat64, .device = Device::Cpu()});
  EXPECT_EQ(Values(back), (std::vector<double>{1, -2, 3}));
}

// Rule 40.
TEST_F(CastCopyTest, ACastByTheHostWaitsForTheStream) {
  std::vector<float> from = {1.5f};
  const Stream stream = Stream::Borrow(Device::Cuda(0), NativeStream{5});
  const Tensor there = *Copied(Over(from, {1}), {.device = Device::Cuda(0)});
  log.copied_on.clear();
  log.synchronized.clear();
  const Tensor cast = *Copied(there, {.dtype = kFloat16, .stream = stream});
  EXPECT_THAT(log.copied_on, ElementsAre(stream, stream));
  EXPECT_THAT(log.synchronized, ElementsAre(stream, stream));
}

}  // namespace
}  // namespace dovetail
