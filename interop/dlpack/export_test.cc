#include "dovetail/interop/dlpack/export.h"

#include <memory>
#include <string>
#include <thread>
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

class ExportTest : public testing::Test {
 protected:
  alignas(64) float data[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;

  StorageRef Lend(Device device) {
    return Storage::Adopt(data, sizeof data, device,
                          {[](void* count) { ++*static_cast<int*>(count); }, &released});
  }
  Tensor Make(Device device = Device::Cpu(), const std::vector<int64_t>& shape = {2, 3},
              int64_t byte_offset = 0, Tensor::Options options = {}, DType dtype = kFloat32) {
    return *Tensor::Make(Lend(device), byte_offset, dtype, *Layout::Contiguous(shape), options);
  }
};

// Rules 1, 4, 5, 11.
TEST_F(ExportTest, WritesTheStructOfTheHeader) {
  const Tensor t = Make();
  const UniqueDLPack out = *ToDLPack(t);
  EXPECT_EQ(out->version.major, uint32_t{DLPACK_MAJOR_VERSION});
  EXPECT_EQ(out->version.minor, uint32_t{DLPACK_MINOR_VERSION});
  EXPECT_EQ(out->flags, 0u);
  const DLTensor& d = out->dl_tensor;
  EXPECT_EQ(d.data, data);
  EXPECT_EQ(d.device.device_type, kDLCPU);
  EXPECT_EQ(d.device.device_id, 0);
  EXPECT_EQ(d.ndim, 2);
  EXPECT_EQ(d.dtype.code, kDLFloat);
  EXPECT_EQ(d.dtype.bits, 32);
  EXPECT_EQ(d.dtype.lanes, 1);
  EXPECT_THAT(std::vector<int64_t>(d.shape, d.shape + 2), ElementsAre(2, 3));
  EXPECT_THAT(std::vector<int64_t>(d.strides, d.strides + 2), ElementsAre(3, 1));
  EXPECT_EQ(d.byte_offset, 0u);
}

// Rule 28.
TEST_F(ExportTest, HoldsTheMemoryUntilTheDeleterRunsWhereverThatIs) {
  for (bool legacy : {false, true}) {
    released = 0;
    if (legacy) {
      DLManagedTensor* out = ToDLPackLegacy(Make())->release();
      EXPECT_EQ(released, 0);
      std::thread([out] { out->deleter(out); }).join();
    } else {
      DLManagedTensorVersioned* out = ToDLPack(Make())->release();
      EXPECT_EQ(released, 0);
      std::thread([out] { out->deleter(out); }).join();
    }
    EXPECT_EQ(released, 1);
  }
}

TEST_F(ExportTest, WhatNobodyTakesIsReleasedOnce) {
  {
    const UniqueDLPack out = *ToDLPack(Make());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

// Rule 8.
TEST_F(ExportTest, DataIsElementZeroAndTheOffsetIsZero) {
  const Tensor row = *Make().Select(0, 1);
  const UniqueDLPack out = *ToDLPack(row);
  EXPECT_EQ(out->dl_tensor.data, &data[3]);
  EXPECT_EQ(out->dl_tensor.byte_offset, 0u);
}

// Rules 8, 21.
TEST_F(ExportTest, AnOpaqueHandleKeepsItsOffset) {
  const Tensor t = Make({DeviceType::kMetal, 2}, {2, 3}, 64);
  const UniqueDLPack out = *ToDLPack(*t.Select(0, 1));
  EXPECT_EQ(out->dl_tensor.data, data);
  EXPECT_EQ(out->dl_tensor.byte_offset, 64u + 12u);
  EXPECT_EQ(out->dl_tensor.device.device_id, 2);
  const UniqueDLPack empty = *ToDLPack(Make({DeviceType::kMetal, 2}, {0}, 8));
  EXPECT_EQ(empty->dl_tensor.byte_offset, 0u);
}

// Rules 8, 12.
TEST_F(ExportTest, RankZeroHasNoShapeAndNoStrides) {
  const UniqueDLPack out = *ToDLPack(Make(Device::Cpu(), {}, 8));
  EXPECT_EQ(out->dl_tensor.ndim, 0);
  EXPECT_EQ(out->dl_tensor.shape, nullptr);
  EXPECT_EQ(out->dl_tensor.strides, nullptr);
  EXPECT_EQ(out->dl_tensor.data, &data[2]);
}

// Rules 10, 11.
TEST_F(ExportTest, NoElementsHaveNoDataButStrides) {
  const UniqueDLPack out = *ToDLPack(Make(Device::Cpu(), {0, 3}));
  EXPECT_EQ(out->dl_tensor.data, nullptr);
  EXPECT_NE(out->dl_tensor.strides, nullptr);
  EXPECT_EQ(out->dl_tensor.shape[0], 0);
}

// Rule 13.
TEST_F(ExportTest, StridesAreKeptAsTheyAreEvenWhereTheyMeanNothing) {
  const Tensor t = *Tensor::Make(Lend(Device::Cpu()), 20, kFloat32,
                                 *Layout::Strided({1, 6}, {INT64_MAX, -1}), {});
  const UniqueDLPack out = *ToDLPack(t);
  EXPECT_EQ(out->dl_tensor.data, &data[5]);
  EXPECT_EQ(out->dl_tensor.strides[0], INT64_MAX);
  EXPECT_EQ(out->dl_tensor.strides[1], -1);
}

TEST_F(ExportTest, RanksBeyondTheInlineOnesAreWhole) {
  for (int rank : {6, 7, 64}) {
    std::vector<int64_t> shape(rank, 1);
    shape.front() = 2;
    shape.back() = 3;
    const UniqueDLPack out = *ToDLPack(Make(Device::Cpu(), shape));
    const DLTensor& d = out->dl_tensor;
    EXPECT_EQ(d.ndim, rank);
    EXPECT_EQ(std::vector<int64_t>(d.shape, d.shape + rank), shape);
    EXPECT_EQ(d.strides[0], 3);
    EXPECT_EQ(d.strides[rank - 1], 1);
  }
}

// Rules 5, 18, 43.
TEST_F(ExportTest, FlagsSayWhatIsReadOnlyCopiedAndPadded) {
  EXPECT_EQ((*ToDLPack(Make().ReadOnly()))->flags, uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY});
  EXPECT_EQ((*ToDLPack(Make(), {.is_copied = true}))->flags,
            uint64_t{DLPACK_FLAG_BITMASK_IS_COPIED});
  const Tensor padded = Make(Device::Cpu(), {24}, 0, {.packing = Packing::kPadded}, kFloat4E2M1Fn);
  EXPECT_EQ((*ToDLPack(padded))->flags, uint64_t{DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED});
}

// Rule 34.
TEST_F(ExportTest, LegacyRefusesWhatItCantSayAndTakesNothing) {
  const absl::Status read_only = ToDLPackLegacy(Make().ReadOnly()).status();
  EXPECT_EQ(read_only.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(read_only.message()), HasSubstr("max_version"));
  EXPECT_EQ(released, 1);
  const Tensor padded = Make(Device::Cpu(), {24}, 0, {.packing = Packing::kPadded}, kFloat4E2M1Fn);
  EXPECT_EQ(ToDLPackLegacy(padded).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ExportTest, ANullTensorIsRefused) {
  EXPECT_EQ(ToDLPack(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ToDLPackLegacy(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
}

// Rule 20.
TEST_F(ExportTest, HostMemoryIsExportedWithIdZero) {
  for (DeviceType type : {DeviceType::kCpu, DeviceType::kCudaHost, DeviceType::kCudaManaged}) {
    EXPECT_EQ((*ToDLPack(Make({type, 3})))->dl_tensor.device.device_id, 0);
  }
  EXPECT_EQ((*ToDLPack(Make(Device::Cuda(3))))->dl_tensor.device.device_id, 3);
}

// Rules 49, 54.
TEST_F(ExportTest, TheConsumersStreamWaitsForEveryStreamButItself) {
  FakeLog log;
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  const Stream a = FakeStream(Device::Cuda(0), 11);
  const Stream b = FakeStream(Device::Cuda(0), 12);
  const Tensor t = Make(Device::Cuda(0));
  t.storage()->RecordUse(a);
  t.storage()->RecordUse(b);
  ASSERT_TRUE(ToDLPack(t, {.stream = b}).ok());
  EXPECT_THAT(log.recorded, ElementsAre(a));
  EXPECT_THAT(log.waited, ElementsAre(b));
  ASSERT_TRUE(ToDLPack(t).ok());
  EXPECT_EQ(log.recorded.size(), 1u) << "no stream: no ordering";
  EXPECT_THAT(log.synchronized, testing::IsEmpty());
}

TEST_F(ExportTest, TheHostWaitsForAConsumerWhoseStreamIsUnknown) {
  FakeLog log;
  const Device device{DeviceType::kOneApi, 0};
  ScopedBackendOverride fake(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{device.type}, &log));
  const Stream a = FakeStream(device, 11);
  const Tensor t = Make(device);
  t.storage()->RecordUse(a);
  ASSERT_TRUE(ToDLPack(t, {.stream = Stream::Default(device)}).ok());
  EXPECT_THAT(log.synchronized, testing::IsEmpty());
  ASSERT_TRUE(ToDLPack(t, {.stream = Stream::Default(device), .host_waits = true}).ok());
  EXPECT_THAT(log.synchronized, testing::Contains(a));
}

TEST_F(ExportTest, AStreamOfADeviceWithoutBackendIsAnErrorAndTakesNothing) {
  const Tensor t = Make(Device::Rocm(0));
  EXPECT_EQ(ToDLPack(t, {.stream = Stream::Default(Device::Rocm(0))}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(t.storage()->use_count(), 1);
}

// Rules 27, 30.
TEST_F(ExportTest, AMarkTellsWhetherTheConsumerDeleted) {
  const Tensor t = Make();
  UniqueDLPack kept = ToDLPackUnordered(t);
  const auto deleter = kept->deleter;
  void (*copied_deleter)(DLManagedTensorVersioned*);
  {
    const DeletionMark mark(kept.get());
    copied_deleter = kept->deleter;
    EXPECT_FALSE(mark.deleted());
  }
  EXPECT_EQ(kept->deleter, deleter);
  EXPECT_EQ(t.storage()->use_count(), 2);
  copied_deleter(kept.release());
  EXPECT_EQ(t.storage()->use_count(), 1);

  DLManagedTensorVersioned* const gone = ToDLPackUnordered(t).release();
  const DeletionMark mark(gone);
  const Tensor other = t;  // so that use_count() is above 1
  gone->deleter(gone);
  EXPECT_TRUE(mark.deleted());
  EXPECT_EQ(t.storage()->use_count(), 2);
}

// Rule 30.
TEST_F(ExportTest, RunningOutOfMemoryLeaksNothing) {
  const Tensor t = Make(Device::Cpu(), std::vector<int64_t>(40, 1));
  const int64_t live = LiveBlocks();
  std::thread([&] {
    const int failures = ForEachAllocationFailure([&] { EXPECT_TRUE(ToDLPack(t).ok()); },
                                                  [&] { EXPECT_EQ(t.storage()->use_count(), 1); });
    EXPECT_EQ(failures, 2);
  }).join();
  EXPECT_EQ(LiveBlocks(), live);
}

}  // namespace
}  // namespace dovetail
