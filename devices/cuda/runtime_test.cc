// RuntimeApi of CUDA against a libcuda.so.1 that notes its calls: every function calls the driver's
// with the right arguments and hands on what it answers.

#include "dovetail/devices/cuda/runtime.h"

#include <string>

#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/vendor/testing/fake_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::HasSubstr;

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

class CudaRuntime : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    ASSERT_TRUE(api.load(api.self, &reason)) << reason;
    fake = new dovetail_fake::FakeLibrary("libcuda.so.1");
    ASSERT_TRUE(fake->is_there()) << "the test needs the stand-in, and found a real driver";
    ASSERT_EQ(api.push_device(api.self, 1, &previous), 0);
    fake->TakeLog();
  }
  void TearDown() override {
    EXPECT_EQ(api.pop_device(api.self, previous), 0);
    delete fake;
  }

  // The calls that a function made, after it succeeded.
  std::string Calls(Result result) {
    EXPECT_EQ(result, 0);
    return fake->TakeLog();
  }

  const RuntimeApi& api = CudaRuntimeApi();
  void* const self = api.self;
  const NativeStream stream{0x5000};
  dovetail_fake::FakeLibrary* fake = nullptr;
  void* previous = nullptr;
};

TEST_F(CudaRuntime, DescribesTheDriverAndItsDevices) {
  int count = 0, runtime = 0, driver = 0;
  EXPECT_EQ(api.device_count(self, &count), 0);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(api.runtime_version(self, &runtime, &driver), 0);
  EXPECT_EQ(runtime, 12040);
  EXPECT_EQ(driver, 12040);
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_STREQ(info.architecture, "sm_90");
  EXPECT_STREQ(info.pci_bus_id, "0000:3b:00.0");
  EXPECT_EQ(info.total_bytes, size_t{1} << 37);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_TRUE(info.has_pools);
  EXPECT_FALSE(info.has_managed) << "the host may not touch it while the device works";
  EXPECT_TRUE(info.maps_pinned_host);
  EXPECT_EQ(api.classify(self, api.device_info(self, 2, &info)), ResultClass::kInvalidHandle);
}

TEST_F(CudaRuntime, DescribesErrors) {
  EXPECT_STREQ(api.describe(self, 2), "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  EXPECT_STREQ(api.describe(self, 12345), "error 12345");
  EXPECT_EQ(api.classify(self, 2), ResultClass::kOutOfMemory);
  EXPECT_EQ(api.classify(self, 600), ResultClass::kNotReady);
  EXPECT_EQ(api.classify(self, 906), ResultClass::kCaptureViolation);
  EXPECT_EQ(api.classify(self, 999), ResultClass::kOther);
}

TEST_F(CudaRuntime, HandsErrorsOn) {
  fake->Fail("cuMemAlloc_v2", 2);
  void* ptr = nullptr;
  EXPECT_EQ(api.malloc_device(self, 64, &ptr), 2);
  EXPECT_EQ(ptr, nullptr);
  fake->Fail("cuStreamQuery", 600);
  EXPECT_EQ(api.stream_query(self, stream), 600);
}

TEST_F(CudaRuntime, ADeviceIsPushedOnlyWhereItIsNotCurrentAndItsContextRetainedOnce) {
  void* inner = At(1);
  EXPECT_EQ(Calls(api.push_device(self, 1, &inner)), "");
  EXPECT_EQ(inner, nullptr);
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "");
  EXPECT_THAT(Calls(api.push_device(self, 0, &inner)), HasSubstr("cuCtxPushCurrent_v2(0xc0)"));
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "cuCtxPopCurrent_v2()");
  EXPECT_EQ(Calls(api.push_device(self, 1, &inner)), "cuCtxPushCurrent_v2(0xc1)");
  EXPECT_EQ(api.classify(self, api.push_device(self, 2, &inner)), ResultClass::kInvalidHandle);
  EXPECT_EQ(api.classify(self, api.push_device(self, -1, &inner)), ResultClass::kInvalidHandle);
}

TEST_F(CudaRuntime, Allocates) {
  void* ptr = nullptr;
  EXPECT_EQ(Calls(api.malloc_device(self, 64, &ptr)), "cuMemAlloc_v2(64)");
  EXPECT_EQ(ptr, At(0xa000));
  EXPECT_EQ(Calls(api.free_device(self, ptr)), "cuMemFree_v2(40960)");
  EXPECT_EQ(Calls(api.malloc_host(self, 65, &ptr)), "cuMemHostAlloc(65, 3)");
  EXPECT_EQ(ptr, At(0xd000));
  EXPECT_EQ(Calls(api.free_host(self, ptr)), "cuMemFreeHost(0xd000)");
  EXPECT_EQ(Calls(api.malloc_managed(self, 66, &ptr)), "cuMemAllocManaged(66, 1)");
  EXPECT_EQ(ptr, At(0xb000));
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(Calls(api.memory_info(self, &free_bytes, &total_bytes)), "cuMemGetInfo_v2()");
  EXPECT_EQ(free_bytes, 10u);
  EXPECT_EQ(total_bytes, 20u);
}

TEST_F(CudaRuntime, APoolOfItsOwnServesEachDevice) {
  EXPECT_THAT(Calls(api.pool_trim(self, 1, 7)), HasSubstr("cuMemPoolTrimTo(0x901, 7)"));
  void* ptr = nullptr;
  EXPECT_EQ(Calls(api.malloc_async(self, 64, stream, &ptr)),
            "cuMemAllocFromPoolAsync(64, 0x901, 0x5000)");
  EXPECT_EQ(ptr, At(0xa100));
  EXPECT_EQ(Calls(api.free_async(self, ptr, stream)), "cuMemFreeAsync(41216, 0x5000)");
  EXPECT_EQ(Calls(api.pool_set_release_threshold(self, 1, SIZE_MAX)),
            "cuMemPoolSetAttribute(0x901, 4, 18446744073709551615)");
  PoolStats stats;
  EXPECT_EQ(Calls(api.pool_stats(self, 1, &stats)),
            "cuMemPoolGetAttribute(0x901, 7); cuMemPoolGetAttribute(0x901, 5)");
  EXPECT_EQ(stats.used_bytes, 3u);
  EXPECT_EQ(stats.reserved_bytes, 5u);
  EXPECT_EQ(Calls(api.pool_allow_access(self, 1, 0)), "cuMemPoolSetAccess(0x901, 0, 3, 1)");
}

TEST_F(CudaRuntime, TellsWhoseMemoryAPointerIs) {
  PointerInfo info;
  EXPECT_EQ(api.pointer_info(self, At(0xa010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kDevice);
  EXPECT_EQ(info.device, 1);
  EXPECT_EQ(info.base, At(0xa000));
  EXPECT_EQ(info.nbytes, 4096u);
  EXPECT_EQ(api.pointer_info(self, At(0xb010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kManaged);
  EXPECT_EQ(api.pointer_info(self, At(0xd010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kPinnedHost);
  EXPECT_EQ(api.pointer_info(self, At(0x1010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kUnknown);
}

TEST_F(CudaRuntime, CopiesAndFills) {
  EXPECT_EQ(Calls(api.copy_async(self, At(0x10), At(0x20), 5, stream)),
            "cuMemcpyAsync(16, 32, 5, 0x5000)");
  EXPECT_THAT(Calls(api.copy_peer_async(self, At(0x10), 0, At(0x20), 1, 5, stream)),
              HasSubstr("cuMemcpyPeerAsync(16, 0xc0, 32, 0xc1, 5, 0x5000)"));
  // From plain host memory (type 1) to the device (2); of managed memory the driver decides (4).
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0xa000), 100, At(0x1000), 50, 30, 7, stream)),
            "cuMemcpy2DAsync_v2(2, 40960, 0xa000, 100, 1, 4096, 0x1000, 50, 30, 7, 0x5000)");
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0xb000), 100, At(0xd000), 50, 30, 7, stream)),
            "cuMemcpy2DAsync_v2(4, 45056, 0xb000, 100, 1, 53248, 0xd000, 50, 30, 7, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 0x101, 1, 9, stream)),
            "cuMemsetD8Async(16, 1, 9, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 0x10002, 2, 9, stream)),
            "cuMemsetD16Async(16, 2, 9, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 3, 4, 9, stream)),
            "cuMemsetD32Async(16, 3, 9, 0x5000)");
  EXPECT_EQ(api.classify(self, api.fill_async(self, At(0x10), 3, 8, 9, stream)),
            ResultClass::kInvalidValue);
}

TEST_F(CudaRuntime, RunsStreams) {
  NativeStream made{};
  EXPECT_EQ(Calls(api.stream_create(self, &made)), "cuStreamCreate(1)");
  EXPECT_EQ(made, stream);
  EXPECT_EQ(Calls(api.stream_query(self, made)), "cuStreamQuery(0x5000)");
  EXPECT_EQ(Calls(api.stream_synchronize(self, made)), "cuStreamSynchronize(0x5000)");
  EXPECT_EQ(Calls(api.stream_wait_event(self, made, At(0xe000))),
            "cuStreamWaitEvent(0x5000, 0xe000, 0)");
  CaptureStatus status = CaptureStatus::kNone;
  EXPECT_EQ(Calls(api.stream_capture_status(self, made, &status)), "cuStreamIsCapturing(0x5000)");
  EXPECT_EQ(status, CaptureStatus::kActive);
  CaptureMode mode = CaptureMode::kRelaxed;
  EXPECT_EQ(Calls(api.exchange_capture_mode(self, &mode)), "cuThreadExchangeStreamCaptureMode(2)");
  EXPECT_EQ(mode, CaptureMode::kGlobal);
  EXPECT_EQ(Calls(api.stream_destroy(self, made)), "cuStreamDestroy_v2(0x5000)");
  EXPECT_EQ(Calls(api.stream_query(self, api.legacy_stream)), "cuStreamQuery(0x1)");
  EXPECT_EQ(Calls(api.stream_query(self, api.per_thread_stream)), "cuStreamQuery(0x2)");
}

TEST_F(CudaRuntime, TellsWhoseStreamItIs) {
  int device = -1;
  EXPECT_EQ(Calls(api.stream_device(self, NativeStream{0x5001}, &device)),
            "cuStreamGetCtx(0x5001)");
  EXPECT_EQ(device, 1);
  // Of a context that is none of ours: asked of the context itself.
  void* inner = nullptr;
  EXPECT_EQ(Calls(api.stream_device(self, stream, &device)),
            "cuStreamGetCtx(0x5000); cuCtxPushCurrent_v2(0xd0); cuCtxPopCurrent_v2()");
  EXPECT_EQ(device, 0);
  EXPECT_EQ(api.push_device(self, 1, &inner), 0);
}

TEST_F(CudaRuntime, RunsEvents) {
  NativeEvent event = nullptr;
  EXPECT_EQ(Calls(api.event_create(self, kEventPlain, &event)), "cuEventCreate(2)");
  EXPECT_EQ(event, At(0xe000));
  EXPECT_EQ(Calls(api.event_create(self, kEventInterprocess, &event)), "cuEventCreate(6)");
  EXPECT_EQ(Calls(api.event_record(self, event, stream)), "cuEventRecord(0xe000, 0x5000)");
  EXPECT_EQ(Calls(api.event_query(self, event)), "cuEventQuery(0xe000)");
  EXPECT_EQ(Calls(api.event_synchronize(self, event)), "cuEventSynchronize(0xe000)");
  EXPECT_EQ(Calls(api.context_record_event(self, event)), "cuCtxRecordEvent(0xc1, 0xe000)");
  EXPECT_EQ(Calls(api.event_destroy(self, event)), "cuEventDestroy_v2(0xe000)");
  EXPECT_EQ(Calls(api.device_synchronize(self)), "cuCtxSynchronize()");
}

TEST_F(CudaRuntime, AsksForAccessBetweenDevices) {
  bool can = false;
  EXPECT_EQ(Calls(api.peer_can_access(self, 0, 1, &can)), "cuDeviceCanAccessPeer(0, 1)");
  EXPECT_TRUE(can);
  EXPECT_THAT(Calls(api.peer_enable(self, 0)), HasSubstr("cuCtxEnablePeerAccess(0xc0, 0)"));
}

TEST_F(CudaRuntime, LoadsAndLaunchesKernels) {
  const KernelImage image = api.kernel_image(self, 1);
  if (image.data == nullptr) GTEST_SKIP() << image.reason;
  NativeModule module = nullptr;
  // The number that a fat binary begins with: 0xba55ed50.
  EXPECT_EQ(Calls(api.module_load(self, &image, &module)), "cuModuleLoadData(3126193488)");
  EXPECT_EQ(module, At(0x7000));
  NativeFunction function = nullptr;
  EXPECT_EQ(Calls(api.module_function(self, module, kKernelNames[0], &function)),
            "cuModuleGetFunction(0x7000, dovetail_copy_1)");
  EXPECT_EQ(function, At(0x7100));
  const uint32_t grid[3] = {1, 2, 3}, block[3] = {4, 5, 6};
  EXPECT_EQ(
      Calls(api.launch(self, function, grid, block, 7, stream, reinterpret_cast<void**>(0x8000))),
      "cuLaunchKernel(0x7100, 1, 2, 3, 4, 5, 6, 7, 0x5000, 0x8000, 0x0)");
}

TEST_F(CudaRuntime, SharesMemoryAndEventsWithOtherProcesses) {
  IpcHandle handle = {};
  EXPECT_EQ(Calls(api.ipc_memory_handle(self, At(0x10), &handle)), "cuIpcGetMemHandle(16)");
  EXPECT_EQ(handle.bytes[63], 0x11);
  void* ptr = nullptr;
  EXPECT_EQ(Calls(api.ipc_open(self, &handle, &ptr)), "cuIpcOpenMemHandle_v2(17, 1)");
  EXPECT_EQ(ptr, At(0xa200));
  EXPECT_EQ(Calls(api.ipc_close(self, ptr)), "cuIpcCloseMemHandle(41472)");
  EXPECT_EQ(Calls(api.ipc_event_handle(self, At(0xe000), &handle)), "cuIpcGetEventHandle(0xe000)");
  EXPECT_EQ(handle.bytes[63], 0x22);
  NativeEvent event = nullptr;
  EXPECT_EQ(Calls(api.ipc_open_event(self, &handle, &event)), "cuIpcOpenEventHandle(34)");
  EXPECT_EQ(event, At(0xe200));
}

}  // namespace
}  // namespace dovetail::gpu
