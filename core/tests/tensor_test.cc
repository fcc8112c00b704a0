#include "dovetail/core/tensor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StorageRef Lend(void* data, size_t nbytes, Device device = Device::Cpu()) {
  return Storage::Adopt(data, nbytes, device, {});
}

absl::StatusOr<Tensor> Make(StorageRef storage, int64_t offset, DType dtype,
                            const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                            Tensor::Options options = {}) {
  return Tensor::Make(std::move(storage), offset, dtype, *Layout::Strided(shape, strides), options);
}

std::string Why(const absl::Status& status, absl::StatusCode code) {
  EXPECT_EQ(status.code(), code) << status;
  return std::string(status.message());
}
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

class TensorTest : public testing::Test {
 protected:
  alignas(16) float floats[24] = {};
  void SetUp() override {
    for (int i = 0; i < 24; ++i) floats[i] = static_cast<float>(i);
  }
  Tensor Matrix(Tensor::Options options = {}) {
    return *Make(Lend(floats, sizeof floats), 0, kFloat32, {4, 6}, {6, 1}, options);
  }
};

TEST_F(TensorTest, ViewsShareTheStorageAndMoveNoElement) {
  const Tensor t = Matrix();
  const Tensor row = *t.Select(0, 2);
  EXPECT_EQ(row.storage(), t.storage());
  EXPECT_EQ(t.storage()->use_count(), 2);
  EXPECT_EQ(*row.data<float>(), floats + 12);
  EXPECT_EQ(*t.Slice(1, {.start = 1, .step = 2})->data<float>(), floats + 1);
  EXPECT_EQ(*t.Slice(-1, {.step = -1})->data<float>(), floats + 5);
  EXPECT_THAT(t.Slice(-1, {.step = -1})->strides(), ElementsAre(6, -1));
  const Tensor transposed = *t.Transpose(0, -1);
  EXPECT_THAT(transposed.shape(), ElementsAre(6, 4));
  EXPECT_EQ(*transposed.Select(0, 1)->data<float>(), floats + 1);
  EXPECT_EQ(*t.Reshape({2, -1})->Select(0, 1)->data<float>(), floats + 12);
  EXPECT_EQ(*t.Permute({1, 0})->data<float>(), floats);
  EXPECT_EQ(*t.Index({IndexItem::At(-1), IndexItem::At(-1)})->data<float>(), floats + 23);
}

TEST_F(TensorTest, ViewsSayWhatIsWrong) {
  const Tensor t = Matrix();
  EXPECT_EQ(t.Select(2, 0).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.Select(0, 4).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.Slice(-3, {}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.Transpose(0, 2).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(t.Permute({0}).status().code(), kInvalid);
  EXPECT_EQ(t.Transpose(0, 1)->Reshape({24}).status().code(), kPrecondition);
  EXPECT_EQ(t.BroadcastTo({4, 7}).status().code(), kInvalid);
}

// A tensor that was default-constructed, and one that was moved from.
TEST_F(TensorTest, FunctionsWithAStatusReturnFailedPreconditionForANullTensor) {
  Tensor moved = Matrix();
  const Tensor taken = std::move(moved);
  for (const Tensor& null : {Tensor(), moved}) {  // NOLINT(bugprone-use-after-move)
    ASSERT_TRUE(null.is_null());
    for (const absl::Status& status :
         {null.Slice(0, {}).status(), null.Select(0, 0).status(), null.Index({}).status(),
          null.Permute({}).status(), null.Transpose(0, 0).status(), null.Reshape({1}).status(),
          null.BroadcastTo({2}).status(), null.data<float>().status()}) {
      EXPECT_THAT(Why(status, kPrecondition), HasSubstr("moved from"));
    }
    EXPECT_TRUE(null.ReadOnly().is_null());
    EXPECT_EQ(null.ToString(), "null tensor");
  }
}

TEST_F(TensorTest, FunctionsThatNeedTheMemoryOfANullTensorEndTheProgram) {
  const Tensor null;
  EXPECT_DEATH((void)null.device(), "Tensor::device.*null");
  EXPECT_DEATH((void)null.raw_data(), "Tensor::raw_data.*null");
  EXPECT_DEATH((void)null.view(), "Tensor::.*null");
  EXPECT_DEATH((void)null.nbytes(), "Tensor::nbytes.*null");
}

// Slice does not go through Index.
TEST_F(TensorTest, ASliceIsWhatTheIndexOfARangeIs) {
  const std::optional<int64_t> kBounds[] = {std::nullopt, 0, 1, 3, 4, 9, -1, -3, -4, -9};
  const Tensor whole = Matrix();
  for (const Tensor& t : {whole, *whole.Slice(0, {.stop = 0}), *whole.Slice(1, {.step = -2})}) {
    for (int dim : {0, 1}) {
      for (auto start : kBounds) {
        for (auto stop : kBounds) {
          for (int64_t step : {1, 2, -1, -3}) {
            const SliceSpec slice{.start = start, .stop = stop, .step = step};
            std::vector<IndexItem> items(dim, IndexItem::Range({}));
            items.push_back(IndexItem::Range(slice));
            const Tensor a = *t.Slice(dim, slice), b = *t.Index(items);
            ASSERT_EQ(a.layout(), b.layout());
            ASSERT_EQ(a.num_elements(), b.num_elements());
            ASSERT_EQ(a.byte_offset(), b.byte_offset());
          }
        }
      }
    }
  }
  EXPECT_EQ(whole.Slice(0, {.step = 0}).status().code(), kInvalid);
}

TEST_F(TensorTest, AccessIsOnlyEverNarrowed) {
  const Tensor t = Matrix();
  EXPECT_FALSE(t.is_read_only());
  EXPECT_TRUE(t.BroadcastTo({2, 4, 6})->is_read_only());
  const Tensor read_only = t.ReadOnly();
  EXPECT_FALSE(t.is_read_only());
  EXPECT_TRUE(read_only.Select(0, 1)->is_read_only());
  EXPECT_TRUE(read_only.Reshape({24})->is_read_only());
  EXPECT_TRUE(read_only.Transpose(0, 1)->is_read_only());
}

TEST_F(TensorTest, DataIsCheckedForTypeAccessAndPlace) {
  const Tensor t = Matrix();
  EXPECT_EQ(*t.data<float>(), floats);
  EXPECT_EQ(*t.data<const float>(), floats);
  EXPECT_THAT(Why(t.data<int32_t>().status(), kPrecondition), HasSubstr("float32, not int32"));
  EXPECT_THAT(Why(t.ReadOnly().data<float>().status(), kPrecondition), HasSubstr("read-only"));
  EXPECT_EQ(*t.ReadOnly().data<const float>(), floats);
  const Tensor far = *Make(Lend(floats, 96, Device::Cuda(1)), 0, kFloat32, {4}, {1});
  EXPECT_THAT(Why(far.data<float>().status(), kPrecondition), HasSubstr("cuda:1"));
  EXPECT_THAT(Why(Tensor().data<float>().status(), kPrecondition), HasSubstr("null"));
}

TEST_F(TensorTest, DataRefusesMisalignedAddresses) {
  const Tensor odd = *Make(Lend(floats, sizeof floats), 2, kFloat32, {3}, {1});
  EXPECT_THAT(Why(odd.data<float>().status(), kPrecondition), HasSubstr("not aligned to 4 bytes"));
  EXPECT_EQ(odd.raw_data(), reinterpret_cast<char*>(floats) + 2);
  const Tensor nothing = *Make(Lend(floats, sizeof floats), 2, kFloat32, {0}, {1});
  EXPECT_TRUE(nothing.data<float>().ok());
}

TEST_F(TensorTest, LayoutsThatLeaveTheStorageAreRefused) {
  const StorageRef s = Lend(floats, 96);
  EXPECT_TRUE(Make(s, 0, kFloat32, {24}, {1}).ok());
  EXPECT_TRUE(Make(s, 92, kFloat32, {24}, {-1}).ok());
  EXPECT_THAT(Why(Make(s, 0, kFloat32, {25}, {1}).status(), kInvalid),
              HasSubstr("outside a storage of 96 bytes"));
  EXPECT_EQ(Make(s, 1, kFloat32, {24}, {1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, -1, kFloat32, {1}, {1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, 91, kFloat32, {23}, {-1}).status().code(), absl::StatusCode::kOk);
  EXPECT_EQ(Make(s, 88, kFloat32, {24}, {-1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, INT64_MAX, kFloat32, {2}, {1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, INT64_MIN, kFloat32, {2}, {-1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, 0, kFloat32, {2}, {INT64_MAX / 2}).status().code(), kInvalid);
  EXPECT_TRUE(Make(s, 0, kFloat32, {0, 9}, {INT64_MAX, INT64_MIN}).ok());
  EXPECT_EQ(Make(StorageRef(), 0, kFloat32, {1}, {1}).status().code(), kInvalid);
  const DType unknown{TypeKind::kFloat, 24, 1};
  EXPECT_THAT(Why(Make(s, 0, unknown, {1}, {1}).status(), kInvalid), HasSubstr("24 bits"));
}

// Rule 21.
TEST_F(TensorTest, OpaqueHandlesKeepTheirOffsetBesideThem) {
  int handle;
  const Device metal{DeviceType::kMetal, 0};
  const Tensor t = *Make(Lend(&handle, 0, metal), 1024, kFloat32, {4, 6}, {6, 1});
  EXPECT_EQ(t.raw_data(), &handle);
  const Tensor row = *t.Select(0, 2);
  EXPECT_EQ(row.raw_data(), &handle);
  EXPECT_EQ(row.byte_offset(), 1024 + 48);
  EXPECT_EQ(row.view().data, &handle);
  EXPECT_EQ(row.view().byte_offset, 1024 + 48);
  EXPECT_EQ(Matrix().Select(0, 2)->view().byte_offset, 0);
}

// No storage bounds these offsets, so they are checked on their own.
TEST_F(TensorTest, OffsetsFromOpaqueHandlesMayNotOverflow) {
  int handle;
  const StorageRef s = Lend(&handle, 0, Device{DeviceType::kMetal, 0});
  EXPECT_EQ(Make(s, INT64_MAX - 3, kFloat32, {2}, {1}).status().code(), kInvalid);
  EXPECT_EQ(Make(s, INT64_MIN + 3, kFloat32, {2}, {-1}).status().code(), kInvalid);
  const int64_t many = int64_t{1} << 59;
  const Tensor t = *Make(s, 0, kFloat64, {many}, {1});  // more bits than an int64 counts
  EXPECT_EQ(t.Slice(0, {.start = many - 1})->byte_offset(), (many - 1) * 8);
  EXPECT_EQ(t.nbytes(), many * 8);
}

TEST_F(TensorTest, TheBytesOfARepeatedElementAreCountedWithoutOverflow) {
  const Tensor one = *Make(Lend(floats, 96), 0, kFloat32, {}, {});
  EXPECT_EQ(one.nbytes(), 4);
  EXPECT_EQ(one.BroadcastTo({int64_t{1} << 60})->nbytes(), int64_t{1} << 62);
  EXPECT_EQ(one.BroadcastTo({INT64_MAX})->nbytes(),
            INT64_MAX);  // the largest number that nbytes() returns
}

TEST_F(TensorTest, PackedElementsCountBits) {
  unsigned char bytes[4] = {};
  const Tensor t = *Make(Lend(bytes, 4), 0, kInt4, {7}, {1});
  EXPECT_EQ(t.nbytes(), 4);
  EXPECT_EQ(t.Slice(0, {.start = 2})->raw_data(), bytes + 1);
  EXPECT_THAT(Why(t.Slice(0, {.start = 1}).status(), kInvalid), HasSubstr("inside a byte"));
  EXPECT_TRUE(t.Slice(0, {.start = 7}).ok()) << "nothing is taken";
  const Tensor padded = *Make(Lend(bytes, 4), 0, kInt4, {4}, {1}, {.packing = Packing::kPadded});
  EXPECT_EQ(padded.nbytes(), 4);
  EXPECT_EQ(padded.Slice(0, {.start = 1})->raw_data(), bytes + 1);
  EXPECT_EQ(padded.Slice(0, {.start = 1})->packing(), Packing::kPadded);
  EXPECT_EQ(Make(Lend(bytes, 3), 0, kInt4, {7}, {1}).status().code(), kInvalid);
}

TEST_F(TensorTest, OnlyElementsThatDoNotFillBytesArePadded) {
  unsigned char bytes[12] = {};
  const auto packing = [&](DType dtype) {
    const Tensor t = *Make(Lend(bytes, 12), 0, dtype, {4}, {1}, {.packing = Packing::kPadded});
    EXPECT_EQ(t.view().packing, t.packing());
    EXPECT_EQ(t.Slice(0, {.start = 1})->packing(), t.packing());
    return t.packing();
  };
  EXPECT_EQ(packing(kInt4), Packing::kPadded);
  EXPECT_EQ(packing({TypeKind::kFloat6E2M3Fn, 6, 2}), Packing::kPadded);
  EXPECT_EQ(packing({TypeKind::kFloat4E2M1Fn, 4, 2}), Packing::kPacked);
  EXPECT_EQ(packing({TypeKind::kFloat6E2M3Fn, 6, 4}), Packing::kPacked);
  EXPECT_EQ(packing(kUInt8), Packing::kPacked);
  EXPECT_EQ(packing(kInt16), Packing::kPacked);
}

TEST_F(TensorTest, AFailedAssignmentLeavesTheTensorAsItWas) {
  const Tensor one = *Make(Lend(floats, 4), 0, kFloat32, {1}, {1});
  const Tensor large = *Make(Lend(floats, 96), 0, kInt8, {1, 1, 1, 1, 1, 1, 12, 8},
                             {96, 96, 96, 96, 96, 96, 8, 1}, {.access = Access::kReadOnly});
  for (const Tensor& start : {one, large}) {
    Tensor target;
    bool failed;
    {
      target = start;
      const Tensor& other = start.rank() == 1 ? large : *large.Select(6, 0);
      FailingNew scope(0);
      try {
        target = other;
      } catch (const std::bad_alloc&) {
      }
      failed = FailingNew::failed();
    }
    EXPECT_TRUE(failed);
    EXPECT_EQ(target.storage(), start.storage());
    EXPECT_EQ(target.layout(), start.layout());
    EXPECT_EQ(target.dtype(), start.dtype());
    EXPECT_EQ(target.access(), start.access());
  }
}

TEST_F(TensorTest, EmptyMakesDenseWritableMemory) {
  FakeLog log;
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCpu}, &log));
  {
    const Tensor t = *Tensor::Empty({3, 5}, kInt16);
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_FALSE(t.is_read_only());
    EXPECT_EQ(t.storage()->nbytes(), 30u);
    std::memset(*t.data<int16_t>(), 0xab, 30);
    EXPECT_EQ(Tensor::Empty({7}, kInt4)->storage()->nbytes(), 4u);
    EXPECT_EQ(Tensor::Empty({0, 5}, kInt16)->storage()->nbytes(), 0u);
    EXPECT_EQ(Tensor::Empty({-1}, kInt16).status().code(), kInvalid);
    EXPECT_EQ(Tensor::Empty({int64_t{1} << 62}, kInt16).status().code(), kInvalid);
    EXPECT_EQ(Tensor::Empty({1}, kInt16, Device::Rocm(0)).status().code(),
              absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(log.allocated, 3);
  EXPECT_EQ(log.deallocated, 3);
}

// Copies of elements do not write these bits. Without zeros, equal tensors could differ in their
// bytes.
TEST_F(TensorTest, TheBitsAfterTheLastElementOfNewMemoryAreZero) {
  FakeLog log;
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCpu}, &log));
  const auto last_byte = [](int64_t count, DType dtype) {
    const Tensor t = *Tensor::Empty({count}, dtype);
    return static_cast<const unsigned char*>(t.raw_data())[t.storage()->nbytes() - 1];
  };
  EXPECT_EQ(last_byte(7, kInt4), 0);
  EXPECT_EQ(last_byte(3, kFloat6E2M3Fn), 0);
  EXPECT_EQ(last_byte(7, kInt8), kUnwritten);
}

TEST_F(TensorTest, PrintsWhatItIsWithoutItsValues) {
  EXPECT_EQ(Matrix().ToString(), "float32 tensor of shape (4, 6), strides (6, 1), on cpu");
  EXPECT_EQ(Matrix().ReadOnly().ToString(),
            "read-only float32 tensor of shape (4, 6), strides (6, 1), on cpu");
  EXPECT_EQ(Tensor().ToString(), "null tensor");
}

TEST_F(TensorTest, AMovedFromTensorIsNull) {
  Tensor t = Matrix();
  Tensor u = std::move(t);
  EXPECT_TRUE(t.is_null());  // NOLINT: a moved-from tensor is null by contract
  EXPECT_EQ(*u.data<float>(), floats);
}

}  // namespace
}  // namespace dovetail
