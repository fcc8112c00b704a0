// Import and export through the C Device Data interface: devices, events and streams.

#include <memory>
#include <string>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/lent_array.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Records the foreign events that its streams waited for.
class EventBackend : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::Status WaitForeign(const Stream& stream, const void* event) override {
    waited_on = stream;
    waited_for = event;
    return absl::OkStatus();
  }
  std::optional<Stream> waited_on;
  const void* waited_for = nullptr;
};

constexpr ArrowDeviceType kArrowCpu = 1, kArrowCuda = 2, kArrowOpenCL = 4;

class ArrowDevice : public testing::Test {
 protected:
  LentArray lent;
  FakeLog log;
  int event = 0;

  absl::StatusOr<Tensor> Take(ArrowDeviceType type, int64_t id, void* event = nullptr) {
    ArrowDeviceArray array = lent.OnDevice(type, id, event);
    absl::StatusOr<Tensor> tensor = FromArrow(&lent.schema, &array);
    EXPECT_EQ(array.array.release, nullptr);
    EXPECT_EQ(lent.schema_releases, 1);
    EXPECT_EQ(lent.releases, tensor.ok() ? 0 : 1);
    return tensor;
  }
  Tensor On(Device device) {
    return *Tensor::Make(Storage::Adopt(lent.values.data(), 32, device, {}), 8, kFloat32,
                         *Layout::Contiguous({6}), {});
  }
};

TEST_F(ArrowDevice, WithoutABackendMemoryPassesThroughWithItsDevice) {
  absl::StatusOr<Tensor> tensor = Take(kArrowCuda, 3);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->device(), Device::Cuda(3));
  EXPECT_EQ(tensor->raw_data(), lent.values.data());
  EXPECT_THAT(tensor->storage()->used_on(), IsEmpty());
  *tensor = Tensor();
  EXPECT_EQ(lent.releases, 1);
}

TEST_F(ArrowDevice, TheCpuIsADeviceLikeOthers) {
  EXPECT_EQ(Take(kArrowCpu, -1)->device(), Device::Cpu());
}

TEST_F(ArrowDevice, AnEventOnTheCpuIsRefused) {
  const absl::Status status = Take(kArrowCpu, -1, &event).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("event"));
}

// Rule 62.
TEST_F(ArrowDevice, AnEventThatNobodyCanWaitForIsRefused) {
  EXPECT_THAT(Take(kArrowCuda, 0, &event).status().message(), HasSubstr("no backend serves"));
}

TEST_F(ArrowDevice, ABackendWithoutEventsOfOthersRefuses) {
  ScopedBackendOverride scope(std::make_unique<FakeBackend>(std::vector{DeviceType::kCuda}, &log));
  EXPECT_EQ(Take(kArrowCuda, 0, &event).status().code(), absl::StatusCode::kUnimplemented);
}

// Rule 62.
TEST_F(ArrowDevice, OurStreamWaitsForTheEvent) {
  auto made = std::make_unique<EventBackend>(std::vector{DeviceType::kCuda}, &log);
  EventBackend* backend = made.get();
  ScopedBackendOverride scope(std::move(made));
  absl::StatusOr<Tensor> tensor = Take(kArrowCuda, 1, &event);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(backend->waited_for, &event);
  EXPECT_EQ(backend->waited_on, Stream::Default(Device::Cuda(1)));
  EXPECT_THAT(tensor->storage()->used_on(), ElementsAre(Stream::Default(Device::Cuda(1))));
}

TEST_F(ArrowDevice, ForAnArrayThatIsRefusedNobodyWaits) {
  auto made = std::make_unique<EventBackend>(std::vector{DeviceType::kCuda}, &log);
  EventBackend* backend = made.get();
  ScopedBackendOverride scope(std::move(made));
  lent.schema.format = "u";
  EXPECT_THAT(Take(kArrowCuda, 1, &event).status().message(), HasSubstr("text"));
  EXPECT_FALSE(backend->waited_on.has_value());
}

// Rule 62.
TEST_F(ArrowDevice, WithoutAnEventThereIsNothingToWaitFor) {
  auto made = std::make_unique<EventBackend>(std::vector{DeviceType::kCuda}, &log);
  EventBackend* backend = made.get();
  ScopedBackendOverride scope(std::move(made));
  absl::StatusOr<Tensor> tensor = Take(kArrowCuda, 1);
  EXPECT_FALSE(backend->waited_on.has_value());
  EXPECT_THAT(tensor->storage()->used_on(), IsEmpty());
}

// Rule 62.
TEST_F(ArrowDevice, NullsOnADeviceCanNotBeCounted) {
  lent.array.null_count = -1;
  const uint8_t bits = 0;
  lent.buffers[0] = &bits;
  EXPECT_THAT(Take(kArrowCuda, 0).status().message(), HasSubstr("not counted"));
}

TEST_F(ArrowDevice, UnknownDevicesAreRefused) {
  EXPECT_THAT(Take(99, 0).status().message(), HasSubstr("device type 99"));
}

TEST_F(ArrowDevice, NothingIsAddedToAnOpaqueHandle) {
  lent.array.offset = 2;
  lent.array.length = 6;
  absl::StatusOr<Tensor> tensor = Take(kArrowOpenCL, 0);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->raw_data(), lent.values.data());
  EXPECT_EQ(tensor->byte_offset(), 8);
  ArrowSchema schema;
  ArrowDeviceArray out;
  ASSERT_TRUE(ToArrow(*tensor->Slice(0, {.start = 1}), &schema, &out).ok());
  EXPECT_EQ(out.array.buffers[1], lent.values.data());
  EXPECT_EQ(out.array.offset, 3);
  EXPECT_EQ(out.array.length, 5);
  out.array.release(&out.array);
}

TEST_F(ArrowDevice, AnOpaqueHandleIsNoAddress) {
  lent.buffers[1] = reinterpret_cast<void*>(UINTPTR_MAX);
  absl::StatusOr<Tensor> tensor = Take(kArrowOpenCL, 0);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->raw_data(), lent.buffers[1]);
}

TEST_F(ArrowDevice, OfAnOpaqueHandleOnlyWholeElementsCanBeSkipped) {
  const Tensor t =
      *Tensor::Make(Storage::Adopt(lent.values.data(), 32, {DeviceType::kOpenCL, 0}, {}), 6,
                    kFloat32, *Layout::Contiguous({2}), {});
  ArrowSchema schema;
  ArrowDeviceArray out;
  EXPECT_THAT(ToArrow(t, &schema, &out).message(), HasSubstr("6 bytes from an opaque handle"));
}

TEST_F(ArrowDevice, WhatArrowHasNoDeviceOrNoArrayForIsNotExported) {
  ArrowSchema schema;
  ArrowDeviceArray out;
  EXPECT_THAT(ToArrow(On({DeviceType::kMaia, 0}), &schema, &out).message(),
              HasSubstr("Arrow has no device type"));
  EXPECT_EQ(ToArrow(Tensor(), &schema, &out).code(), absl::StatusCode::kFailedPrecondition);
}

// Rule 62.
TEST_F(ArrowDevice, AnExportTellsTheDevice) {
  ArrowSchema schema;
  ArrowDeviceArray out;
  ASSERT_TRUE(ToArrow(On(Device::Cuda(2)), &schema, &out).ok());
  EXPECT_EQ(out.device_type, kArrowCuda);
  EXPECT_EQ(out.device_id, 2);
  EXPECT_EQ(out.sync_event, nullptr);
  EXPECT_THAT(out.reserved, ElementsAre(0, 0, 0));
  EXPECT_EQ(out.array.buffers[1], &lent.values[2]);
  EXPECT_EQ(out.array.offset, 0);
  out.array.release(&out.array);
  ASSERT_TRUE(ToArrow(On(Device::Cpu()), &schema, &out).ok());
  EXPECT_EQ(out.device_type, kArrowCpu);
  EXPECT_EQ(out.device_id, -1);
  out.array.release(&out.array);
}

// Rule 62.
TEST_F(ArrowDevice, TheHostWaitsForTheStreamsBeforeAnExport) {
  ScopedBackendOverride scope(std::make_unique<FakeBackend>(std::vector{DeviceType::kCuda}, &log));
  const Tensor tensor = On(Device::Cuda(0));
  const Stream stream = FakeStream(Device::Cuda(0), 7);
  tensor.storage()->RecordUse(stream);
  ArrowSchema schema;
  ArrowDeviceArray out;
  ASSERT_TRUE(ToArrow(tensor, &schema, &out).ok());
  EXPECT_THAT(log.synchronized, ElementsAre(stream));
  out.array.release(&out.array);
}

TEST_F(ArrowDevice, StreamsThatNobodyCanWaitForAreAnError) {
  const Tensor tensor = On(Device::Cuda(0));
  tensor.storage()->RecordUse(Stream::Borrow(Device::Cuda(0), NativeStream{7}));
  ArrowSchema schema;
  ArrowDeviceArray out;
  EXPECT_EQ(ToArrow(tensor, &schema, &out).code(), absl::StatusCode::kNotFound);
}

TEST_F(ArrowDevice, WithoutTheDeviceInterfaceOnlyHostMemoryIsExported) {
  ArrowSchema schema;
  ArrowArray out;
  EXPECT_THAT(ToArrow(On(Device::Cuda(0)), &schema, &out).message(),
              HasSubstr("__arrow_c_device_array__"));
  ASSERT_TRUE(ToArrow(On({DeviceType::kCudaHost, 0}), &schema, &out).ok());
  out.release(&out);
}

}  // namespace
}  // namespace dovetail
