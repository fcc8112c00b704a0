// The ROCm runtime through the forwarding library to a libcuda.so.1 that logs its calls: the path
// that tools/gpu_check takes on a machine with an NVIDIA GPU.

#include <string>

#include "dovetail/tests/forwarding_hip/forwarding_fixture.h"

namespace dovetail::gpu {
namespace {

using testing::HasSubstr;

class Forwarding : public ForwardingTest {
 protected:
  Forwarding() : ForwardingTest(/*device=*/1) {}

  const NativeStream stream{0x5000};
};

TEST_F(Forwarding, DescribesCudasDeviceAsRocms) {
  int count = 0;
  EXPECT_EQ(api.device_count(self, &count), 0);
  EXPECT_EQ(count, 2);
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_TRUE(info.has_pools);
  EXPECT_TRUE(info.maps_pinned_host);
}

TEST_F(Forwarding, CallsReachCudaOnTheDeviceThatWasSet) {
  void* ptr = nullptr;
  EXPECT_THAT(Calls(api.malloc_device(self, 64, &ptr)),
              HasSubstr("cuCtxPushCurrent_v2(0xc1); cuMemAlloc_v2(64); cuCtxPopCurrent_v2()"));
  EXPECT_EQ(ptr, At(0xa000));
  EXPECT_THAT(Calls(api.copy_async(self, At(0x10), At(0x20), 5, stream)),
              HasSubstr("cuMemcpyAsync(16, 32, 5, 0x5000)"));
  EXPECT_THAT(Calls(api.malloc_async(self, 64, stream, &ptr)),
              HasSubstr("cuMemAllocFromPoolAsync(64, 0x901, 0x5000)"));
  EXPECT_THAT(Calls(api.event_record(self, At(0xe000), stream)),
              HasSubstr("cuEventRecord(0xe000, 0x5000)"));
}

TEST_F(Forwarding, TheNullStreamIsCudasLegacyOne) {
  EXPECT_THAT(Calls(api.stream_query(self, api.legacy_stream)), HasSubstr("cuStreamQuery(0x1)"));
  EXPECT_THAT(Calls(api.stream_query(self, api.per_thread_stream)),
              HasSubstr("cuStreamQuery(0x2)"));
}

TEST_F(Forwarding, PointersAreTheKindThatCudaSays) {
  PointerInfo info;
  EXPECT_EQ(api.pointer_info(self, At(0xa010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kDevice);
  EXPECT_EQ(info.base, At(0xa000));
  EXPECT_EQ(api.pointer_info(self, At(0xb010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kManaged);
  EXPECT_EQ(api.pointer_info(self, At(0xd010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kPinnedHost);
  EXPECT_EQ(api.pointer_info(self, At(0x1010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kUnknown);
}

TEST_F(Forwarding, ErrorsComeBack) {
  fake->Fail("cuMemAlloc_v2", 2);
  void* ptr = nullptr;
  EXPECT_EQ(api.classify(self, api.malloc_device(self, 64, &ptr)), ResultClass::kOutOfMemory);
}

TEST_F(Forwarding, ALaunchOfMoreThreadsThanHipCountsIsRefused) {
  const uint32_t most[3] = {(1u << 24) - 1, 1, 1}, more[3] = {1u << 24, 1, 1};
  const uint32_t block[3] = {256, 1, 1};
  EXPECT_THAT(Calls(api.launch(self, At(0x7100), most, block, 0, stream, nullptr)),
              HasSubstr("cuLaunchKernel(0x7100, 16777215, 1, 1, 256, 1, 1"));
  EXPECT_NE(api.launch(self, At(0x7100), more, block, 0, stream, nullptr), 0);
}

TEST_F(Forwarding, KernelsAreCudasOwn) {
  const KernelImage image = {.data = "an image for AMD", .nbytes = 16};
  NativeModule module = nullptr;
  const Result result = api.module_load(self, &image, &module);
  if (result == 209) GTEST_SKIP() << "this build has no kernels for CUDA";
  EXPECT_THAT(Calls(result), HasSubstr("cuModuleLoadData(3126193488)"));
}

}  // namespace
}  // namespace dovetail::gpu
