// HIP's devices 0 and 2 are CUDA's device 0, 1 and 3 its device 1 (DOVETAIL_FORWARDED_DEVICES=4).

#include <string>

#include "dovetail/tests/forwarding_hip/forwarding_fixture.h"

namespace dovetail::gpu {
namespace {

using testing::HasSubstr;
using testing::Not;

class SharedGpu : public ForwardingTest {
 protected:
  SharedGpu() : ForwardingTest(/*device=*/2) {}

  NativeStream NewStream() {
    NativeStream stream;
    EXPECT_EQ(api.stream_create(self, &stream), 0);
    return stream;
  }
};

TEST_F(SharedGpu, EachDeviceIsDescribedWithAnAddressOfItsOwn) {
  int count = 0;
  EXPECT_EQ(api.device_count(self, &count), 0);
  EXPECT_EQ(count, 4);
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.pci_bus_id, "ffff:3b:00.0");
  EXPECT_EQ(api.device_info(self, 3, &info), 0);
  EXPECT_STREQ(info.pci_bus_id, "ffff:3b:00.1");
  EXPECT_NE(api.device_info(self, 4, &info), 0);
}

TEST_F(SharedGpu, CallsReachTheGpuThatTheDeviceIs) {
  void* ptr = nullptr;
  EXPECT_THAT(Calls(api.malloc_device(self, 64, &ptr)),
              HasSubstr("cuCtxPushCurrent_v2(0xc0); cuMemAlloc_v2(64)"));
  EXPECT_EQ(api.free_device(self, ptr), 0);
}

TEST_F(SharedGpu, MemoryIsOfTheDeviceThatAllocatedIt) {
  for (const int device : {3, 1}) {
    Select(device);
    void* ptr = nullptr;
    ASSERT_EQ(api.malloc_device(self, 64, &ptr), 0);
    PointerInfo info;
    EXPECT_EQ(api.pointer_info(self, At(0xa010), &info), 0);
    EXPECT_EQ(info.device, device);
    EXPECT_EQ(api.free_device(self, ptr), 0);
  }
  Select(3);
  PointerInfo info;
  EXPECT_EQ(api.pointer_info(self, At(0xa010), &info), 0);
  EXPECT_EQ(info.device, 1) << "what another library allocated is of CUDA's device";
}

TEST_F(SharedGpu, AStreamIsOfTheDeviceThatMadeItAndTakesItsEventsAlone) {
  const NativeStream stream = NewStream();
  int device = -1;
  EXPECT_EQ(api.stream_device(self, stream, &device), 0);
  EXPECT_EQ(device, 2);
  NativeEvent event;
  ASSERT_EQ(api.event_create(self, kEventPlain, &event), 0);
  EXPECT_THAT(Calls(api.event_record(self, event, stream)), HasSubstr("cuEventRecord"));
  EXPECT_EQ(api.event_destroy(self, event), 0);
  Select(0);
  ASSERT_EQ(api.event_create(self, kEventPlain, &event), 0);
  EXPECT_NE(api.event_record(self, event, stream), 0);
  EXPECT_EQ(api.event_destroy(self, event), 0);
  EXPECT_EQ(api.stream_destroy(self, stream), 0);
}

TEST_F(SharedGpu, DevicesOfOneGpuHaveAccessOnceItIsEnabled) {
  bool can = false;
  EXPECT_EQ(api.peer_can_access(self, 0, 2, &can), 0);
  EXPECT_TRUE(can);
  EXPECT_EQ(api.peer_can_access(self, 2, 2, &can), 0);
  EXPECT_FALSE(can);
  fake->TakeLog();
  EXPECT_THAT(Calls(api.peer_enable(self, 0)), Not(HasSubstr("cuCtxEnablePeerAccess")));
  EXPECT_EQ(api.classify(self, api.peer_enable(self, 0)), ResultClass::kPeerAlreadyEnabled);
  EXPECT_THAT(Calls(api.pool_allow_access(self, 2, 0)), Not(HasSubstr("cuMemPoolSetAccess")));
  // Those of two GPUs: CUDA's own.
  EXPECT_THAT(Calls(api.peer_can_access(self, 2, 3, &can)),
              HasSubstr("cuDeviceCanAccessPeer(0, 1)"));
  EXPECT_THAT(Calls(api.peer_enable(self, 3)), HasSubstr("cuCtxEnablePeerAccess(0xc1, 0)"));
  EXPECT_THAT(Calls(api.pool_allow_access(self, 2, 3)), HasSubstr("cuMemPoolSetAccess(0x900, 1"));
}

TEST_F(SharedGpu, PeersReachPlainMemoryAndTheDevicesOwnPool) {
  const auto reach = [this](uintptr_t address, int device) {
    bool answer = false;
    EXPECT_EQ(api.peers_reach(self, At(address), device, &answer), 0);
    return answer;
  };
  void *plain = nullptr, *pooled = nullptr;
  ASSERT_EQ(api.malloc_device(self, 64, &plain), 0);
  ASSERT_EQ(api.malloc_async(self, 64, api.legacy_stream, &pooled), 0);
  EXPECT_TRUE(reach(0xa010, 2));
  EXPECT_TRUE(reach(0xa110, 2));
  EXPECT_FALSE(reach(0xa110, 0)) << "of the other device's pool";
  EXPECT_FALSE(reach(0xa310, 2)) << "of another library's pool";
  EXPECT_EQ(api.free_async(self, pooled, api.legacy_stream), 0);
  EXPECT_EQ(api.free_device(self, plain), 0);
}

TEST_F(SharedGpu, ACopyBetweenDevicesOfOneGpuIsPlainAndSaysWhoseMemoryItIs) {
  const NativeStream stream = NewStream();
  void* ptr = nullptr;
  ASSERT_EQ(api.malloc_device(self, 64, &ptr), 0);
  fake->TakeLog();
  EXPECT_THAT(Calls(api.copy_peer_async(self, At(0xa000), 2, At(0x20), 0, 5, stream)),
              HasSubstr("cuMemcpyAsync(40960, 32, 5, 0x5000)"));
  EXPECT_THAT(Calls(api.copy_peer_async(self, At(0xa000), 2, At(0x20), 3, 5, stream)),
              HasSubstr("cuMemcpyPeerAsync(40960, 0xc0, 32, 0xc1, 5, 0x5000)"));
  EXPECT_NE(api.copy_peer_async(self, At(0xa000), 0, At(0x20), 2, 5, stream), 0);
  EXPECT_EQ(api.free_device(self, ptr), 0);
  EXPECT_EQ(api.stream_destroy(self, stream), 0);
}

}  // namespace
}  // namespace dovetail::gpu
