#include "dovetail/core/stream.h"

#include <thread>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

const Device kCuda0 = Device::Cuda(0), kCuda1 = Device::Cuda(1);

Stream Numbered(Device device, uintptr_t handle) {
  return Stream::Borrow(device, NativeStream{handle});
}

TEST(Stream, IsTheSameQueueWhoeverOwnsIt) {
  const Stream owned = Stream::Own(kCuda0, NativeStream{7}, std::make_shared<int>());
  EXPECT_EQ(owned, Numbered(kCuda0, 7));
  EXPECT_NE(owned, Numbered(kCuda1, 7));
  EXPECT_TRUE(owned.is_lasting());
  EXPECT_FALSE(Numbered(kCuda0, 7).is_lasting());
  EXPECT_TRUE(Stream::Default(kCuda0).is_lasting());
}

TEST(CurrentStream, IsTheDefaultUntilOneIsSet) {
  EXPECT_EQ(CurrentStream(kCuda0), Stream::Default(kCuda0));
  EXPECT_EQ(CurrentStream(Device::Cpu()), Stream::Default(Device::Cpu()));
}

TEST(CurrentStream, IsThatOfTheInnermostScopeOnEachDevice) {
  StreamScope outer(Numbered(kCuda0, 7));
  StreamScope other(Numbered(kCuda1, 9));
  {
    StreamScope inner(Numbered(kCuda0, 8));
    EXPECT_EQ(CurrentStream(kCuda0), Numbered(kCuda0, 8));
    StreamScope standard(Stream::Default(kCuda0));
    EXPECT_EQ(CurrentStream(kCuda0), Stream::Default(kCuda0));
    EXPECT_EQ(CurrentStream(kCuda1), Numbered(kCuda1, 9));
  }
  EXPECT_EQ(CurrentStream(kCuda0), Numbered(kCuda0, 7));
}

TEST(CurrentStream, BelongsToTheThread) {
  StreamScope scope(Numbered(kCuda0, 7));
  Stream seen = Numbered(kCuda0, 1);
  std::thread([&] { seen = CurrentStream(kCuda0); }).join();
  EXPECT_EQ(seen, Stream::Default(kCuda0));
}

TEST(CurrentStream, OfHostMemoryIsThatOfTheVendorsFirstDevice) {
  StreamScope scope(Numbered(kCuda0, 7));
  EXPECT_EQ(CurrentStream({DeviceType::kCudaHost, 0}), Numbered(kCuda0, 7));
  EXPECT_EQ(CurrentStream({DeviceType::kCudaManaged, 0}), Numbered(kCuda0, 7));
  EXPECT_EQ(CurrentStream({DeviceType::kRocmHost, 0}), Stream::Default(Device::Rocm(0)));
}

}  // namespace
}  // namespace dovetail
