#include "dovetail/devices/gpu/backend.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// For both vendors, by the backend's name.
class Backend : public EmulatedGpu, public testing::WithParamInterface<const gpu::VendorTraits*> {
 protected:
  Backend() : EmulatedGpu({.vendor = GetParam()}) {}
};
INSTANTIATE_TEST_SUITE_P(Vendors, Backend, testing::Values(&gpu::kCudaTraits, &gpu::kRocmTraits),
                         [](const auto& info) { return std::string(info.param->name); });

TEST_P(Backend, OpensNothingBeforeItIsAsked) {
  EXPECT_EQ(gpu().counts().total, 0);
  EXPECT_EQ(*backend().DeviceCount(), 2);
  EXPECT_GT(gpu().counts().total, 0);
  EXPECT_EQ(backend().name(), GetParam()->name);
}

TEST_P(Backend, SaysWhyThereIsNoDevice) {
  Start({.vendor = GetParam(), .missing_driver = "libgpu.so is missing."});
  EXPECT_EQ(backend().DeviceCount().status(), absl::UnavailableError("libgpu.so is missing."));
  EXPECT_FALSE(Tensor::Empty({2}, kFloat32, device()).ok());
  Start({.vendor = GetParam(), .devices = 0});
  EXPECT_THAT(backend().DeviceCount().status().message(), HasSubstr("finds no device"));
}

TEST_P(Backend, ADeviceThatIsNotThereIsSaid) {
  const absl::Status s = Tensor::Empty({2}, kFloat32, device(2)).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(s.message(), HasSubstr(device(2).ToString()));
  EXPECT_THAT(s.message(), HasSubstr("0 to " + device(1).ToString()));
  EXPECT_FALSE(Tensor::Empty({2}, kFloat32, device(-1)).ok());
  EXPECT_FALSE(backend().CreateStream(device(2)).ok());
}

TEST_P(Backend, CopiesToTheDeviceAndBack) {
  const Tensor x = Counting({3, 4});
  for (int index : {0, 1}) {
    const Tensor y = OnDevice(x, index);
    EXPECT_EQ(y.device(), device(index));
    EXPECT_EQ(Values(y), Values(x));
  }
}

TEST_P(Backend, EachMemoryKindHasItsDeviceCode) {
  Tensor pinned_tensor = *Tensor::Empty({4}, kInt32, pinned());
  EXPECT_EQ(pinned_tensor.device(), pinned());
  ASSERT_TRUE(CopyInto(pinned_tensor, Counting({4})).ok());
  EXPECT_EQ(Values(pinned_tensor), Values(Counting({4})));
  EXPECT_EQ(Values(OnDevice(pinned_tensor)), Values(Counting({4})));
  absl::StatusOr<StorageRef> managed = Storage::Allocate(16, device(1), MemoryKind::kManaged);
  ASSERT_TRUE(managed.ok()) << managed.status();
  const bool has_code = GetParam()->managed.has_value();
  const Device expected = has_code ? Device{*GetParam()->managed, 0} : device(1);
  EXPECT_EQ((*managed)->device(), expected);
  EXPECT_EQ((*Storage::Allocate(16, device(1), MemoryKind::kPinnedHost))->device(), pinned());
  Tensor m = *Tensor::Make(*managed, 0, kInt32, *Layout::Contiguous({4}), {});
  ASSERT_TRUE(CopyInto(m, Counting({4})).ok());
  EXPECT_EQ(Values(m), Values(Counting({4})));
}

TEST_P(Backend, PointersAreKnown) {
  const Tensor t = *Tensor::Empty({4, 4}, kInt32, device(1));
  const Tensor row = *t.Select(0, 2);
  absl::StatusOr<PointerAttributes> known = backend().GetPointerAttributes(row.raw_data());
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(known->device, device(1));
  EXPECT_EQ(known->kind, MemoryKind::kDevice);
  EXPECT_EQ(known->base, t.raw_data());
  EXPECT_EQ(known->nbytes, 64u);
  const Tensor p = *Tensor::Empty({4}, kInt32, pinned());
  EXPECT_EQ(backend().GetPointerAttributes(p.raw_data())->device, pinned());
  int on_the_stack;
  EXPECT_EQ(backend().GetPointerAttributes(&on_the_stack).status().code(),
            absl::StatusCode::kNotFound);
}

// ---- Streams ----

// Rules 46, 47.
TEST_P(Backend, StreamCodesMeanWhatTheVendorsRulesSay) {
  const bool is_cuda = GetParam()->device == DeviceType::kCuda;
  const Stream standard = Stream::Default(device());
  auto decode = [&](std::optional<int64_t> code) { return backend().DecodeStream(device(), code); };
  EXPECT_EQ(*decode(std::nullopt)->stream, standard);
  EXPECT_EQ(decode(-1)->stream, std::nullopt);
  const auto handle = static_cast<int64_t>(gpu().MakeStream(0));
  EXPECT_EQ(decode(handle)->stream->native(), NativeStream(handle));
  EXPECT_FALSE(decode(handle)->stream->is_lasting());
  EXPECT_FALSE(decode(-2).ok());
  if (is_cuda) {
    EXPECT_THAT(decode(0).status().message(), HasSubstr("no stream 0"));
    EXPECT_EQ(*decode(1)->stream, standard);
    EXPECT_EQ(decode(2)->stream->native(), gpu().api().per_thread_stream);
    EXPECT_FALSE(decode(2)->stream->is_lasting()) << "another one in each thread";
  } else {
    EXPECT_EQ(*decode(0)->stream, standard);
    EXPECT_THAT(decode(1).status().message(), HasSubstr("no stream 1"));
    EXPECT_THAT(decode(2).status().message(), HasSubstr("no stream 2"));
  }
}

// Rules 46, 47.
TEST_P(Backend, AStreamsCodeLeadsBackToIt) {
  const Stream made = MakeStream();
  for (const Stream& stream : {Stream::Default(device()), made}) {
    absl::StatusOr<std::optional<int64_t>> code = backend().EncodeStream(stream);
    ASSERT_TRUE(code.ok());
    EXPECT_EQ(*backend().DecodeStream(device(), *code)->stream, stream);
  }
  const auto code = static_cast<int64_t>(made.native());
  EXPECT_TRUE(backend().DecodeStream(device(), code)->stream->is_owned()) << "it is one of ours";
}

TEST_P(Backend, AStreamOfAnotherDeviceIsRefused) {
  const auto handle = static_cast<int64_t>(gpu().MakeStream(1));
  EXPECT_THAT(backend().DecodeStream(device(0), handle).status().message(),
              HasSubstr("belongs to " + device(1).ToString()));
  Tensor x = *Tensor::Empty({2}, kInt32, device(0));
  const Tensor y = *Tensor::Empty({2}, kInt32, device(0));
  EXPECT_THAT(CopyInto(x, y, {.stream = MakeStream(1)}).message(),
              HasSubstr("pass a stream of either"));
}

TEST_P(Backend, AStreamGoesWithItsLastCopy) {
  NativeStream handle;
  {
    const Stream stream = MakeStream();
    handle = stream.native();
  }
  EXPECT_FALSE(backend().DecodeStream(device(), static_cast<int64_t>(handle))->stream->is_owned());
  MakeStream();  // destroys the handle of the first
  EXPECT_FALSE(backend().DecodeStream(device(), static_cast<int64_t>(handle)).ok());
  EXPECT_THAT(gpu().TakeComplaints(), ElementsAre(HasSubstr("destroyed before")));
}

TEST_P(Backend, EventsOrderStreamsAndTellTheHost) {
  const Stream a = MakeStream(), b = MakeStream();
  Tensor x = *Tensor::Empty({4}, kInt32, device());
  ASSERT_TRUE(CopyInto(x, Pinned(Counting({4}), device()), {.stream = a}).ok());
  absl::StatusOr<Event> event = backend().Record(a);
  ASSERT_TRUE(event.ok());
  EXPECT_FALSE(*backend().Query(*event));
  ASSERT_TRUE(backend().Wait(b, *event).ok());
  ASSERT_TRUE(backend().Synchronize(b).ok());
  EXPECT_TRUE(*backend().Query(*event));
  EXPECT_TRUE(backend().HostWait(*event).ok());
}

TEST_P(Backend, EventsAreUsedAgain) {
  const Stream a = MakeStream();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(backend().Record(a).ok());
  EXPECT_EQ(gpu().counts().event_creates, 1);
  EXPECT_EQ(gpu().counts().event_records, 10);
}

TEST_P(Backend, WhateverDeviceIsCurrentTheTensorsIsUsed) {
  void* previous;
  const gpu::RuntimeApi& api = gpu().api();
  api.push_device(api.self, 1, &previous);
  const Tensor x = OnDevice(Counting({4}), 0);
  EXPECT_EQ(Values(x), Values(Counting({4})));
  gpu::NativeEvent event;
  api.event_create(api.self, 0, &event);
  NativeStream on_1 = gpu().MakeStream(1);
  EXPECT_EQ(api.event_record(api.self, event, on_1), 0) << "device 1 is current still";
  api.pop_device(api.self, previous);
}

// ---- After a fork ----

TEST_P(Backend, AForkedChildGetsAClearErrorAndLosesNothing) {
  Tensor x = OnDevice(Counting({4}));
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status s = Tensor::Empty({2}, kFloat32, device()).status();
    const absl::Status copied = Copied(x, {.device = Device::Cpu()}).status();
    x = Tensor();  // the parent's memory: nothing happens
    const bool ok = s.code() == absl::StatusCode::kFailedPrecondition &&
                    s.message().find("forked") != std::string::npos && !copied.ok();
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Values(x), Values(Counting({4})));
}

TEST_P(Backend, AForkBeforeTheFirstCallDoesNoHarm) {
  const pid_t child = fork();
  if (child == 0) _exit(Values(OnDevice(Counting({4}))) == Values(Counting({4})) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace dovetail
