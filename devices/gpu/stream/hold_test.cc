// Streams of other libraries that the runtime holds (RuntimeApi::stream_hold), and default streams
// that each device has for itself (RuntimeApi::default_stream).

#include <map>

#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// Other libraries' streams, by the handle that Dovetail got, and how often each is held.
std::map<NativeStream, int>& Holds() {
  static auto* const holds = new std::map<NativeStream, int>;
  return *holds;
}

constexpr NativeStream kTheirs{0x7000}, kTheirsAgain{0x7001}, kOwn{0x7100}, kDefault{0x7200};

gpu::RuntimeApi WithHolds(gpu::RuntimeApi api) {
  static decltype(api.stream_destroy) destroy;
  destroy = api.stream_destroy;
  api.stream_device = nullptr;
  api.default_stream = [](void*, int device, NativeStream* stream) -> gpu::Result {
    *stream = NativeStream{static_cast<uintptr_t>(kDefault) + device};
    return 0;
  };
  api.stream_hold = [](void*, NativeStream stream, NativeStream* own) -> gpu::Result {
    *own = stream == kTheirs || stream == kTheirsAgain ? kOwn : stream;
    ++Holds()[*own];
    return 0;
  };
  api.stream_destroy = [](void* self, NativeStream stream) {
    const auto held = Holds().find(stream);
    if (held == Holds().end()) return destroy(self, stream);
    if (--held->second == 0) Holds().erase(held);
    return gpu::Result{0};
  };
  return api;
}

class HoldTest : public testing::Test {
 protected:
  HoldTest() { Holds().clear(); }
  Stream Decode(NativeStream handle) {
    return *backend_->DecodeStream(device_, static_cast<int64_t>(handle))->stream;
  }
  int Held() const {
    int count = 0;
    for (const auto& [handle, holds] : Holds()) count += holds;
    return count;
  }

  emulator::Emulator gpu_{{.vendor = &gpu::kOneApiTraits, .has_pools = false}};
  std::unique_ptr<DeviceBackend> backend_ = gpu::MakeGpuBackend(WithHolds(gpu_.api()));
  const Device device_{DeviceType::kOneApi, 0};
};

TEST_F(HoldTest, AStreamIsHeldOnceWhateverItsHandleAndLetGoWithTheLastCopy) {
  {
    const Stream first = Decode(kTheirs), again = Decode(kTheirsAgain);
    EXPECT_EQ(first, again);
    EXPECT_EQ(first.native(), kOwn);
    EXPECT_TRUE(first.is_lasting());
    EXPECT_EQ(Held(), 1);
  }
  const Stream made = *backend_->CreateStream(device_);  // destroys what is no longer used
  EXPECT_EQ(Held(), 0);
  EXPECT_EQ(Decode(made.native()), made);
}

TEST_F(HoldTest, AStreamThatIsHeldAnewBeforeItWasLetGoStaysHeld) {
  {
    const Stream first = Decode(kTheirs);
  }
  const Stream second = Decode(kTheirs);
  EXPECT_EQ(Held(), 1);
  EXPECT_EQ(Decode(kTheirsAgain), second);
  EXPECT_EQ(Held(), 1);
}

TEST_F(HoldTest, ADevicesDefaultStreamHasAHandle) {
  for (int index : {0, 1}) {
    const Stream stream = Stream::Default({DeviceType::kOneApi, index});
    const auto code = *backend_->EncodeStream(stream);
    ASSERT_TRUE(code.has_value());
    EXPECT_EQ(*code, static_cast<int64_t>(kDefault) + index);
    EXPECT_EQ(backend_->DecodeStream(stream.device(), code)->stream, stream);
  }
}

TEST_F(HoldTest, AConsumerWithoutAStreamIsOneThatTheHostWaitsFor) {
  EXPECT_TRUE(backend_->DecodeStream(device_, std::nullopt)->host_waits);
  EXPECT_FALSE(backend_->DecodeStream(device_, -1)->host_waits);
  EXPECT_FALSE(backend_->DecodeStream(device_, static_cast<int64_t>(kTheirs))->host_waits);
  for (int64_t code : {0, 1, 2, -2}) {
    EXPECT_EQ(backend_->DecodeStream(device_, code).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
