// RuntimeApi of CUDA against a libcuda.so.1 that logs its calls: the suite of all vendors, and
// CUDA's own functions.

#include "dovetail/devices/cuda/runtime.h"

#include <string>
#include <thread>

#include "dovetail/devices/gpu/vendor/testing/runtime_suite.h"

namespace dovetail::gpu {

struct CudaCalls {
  static const RuntimeApi& Api() { return CudaRuntimeApi(); }
  static std::string FakeName() { return "libcuda.so.1"; }
  static std::string Address(uintptr_t address) { return absl::StrCat(address); }

  static constexpr char kOutOfMemory[] = "CUDA_ERROR_OUT_OF_MEMORY";
  static constexpr char kDeviceSynchronize[] = "cuCtxSynchronize";
  static constexpr char kPeerCanAccess[] = "cuDeviceCanAccessPeer";

  static constexpr char kMalloc[] = "cuMemAlloc_v2";
  static constexpr char kFree[] = "cuMemFree_v2";
  static constexpr char kMallocHost[] = "cuMemHostAlloc";
  static constexpr char kFreeHost[] = "cuMemFreeHost";
  static constexpr char kMallocManaged[] = "cuMemAllocManaged";
  static constexpr char kPoolTrim[] = "cuMemPoolTrimTo";
  static constexpr char kPoolMalloc[] = "cuMemAllocFromPoolAsync";
  static constexpr char kPoolFree[] = "cuMemFreeAsync";
  static constexpr char kPoolSetAttribute[] = "cuMemPoolSetAttribute";
  static constexpr char kPoolGetAttribute[] = "cuMemPoolGetAttribute";
  static constexpr char kPoolSetAccess[] = "cuMemPoolSetAccess";
  static constexpr char kFill8[] = "cuMemsetD8Async";
  static constexpr char kFill16[] = "cuMemsetD16Async";
  static constexpr char kFill32[] = "cuMemsetD32Async";

  static constexpr char kLegacyStream[] = "0x1";
  static constexpr char kStreamCreate[] = "cuStreamCreate";
  static constexpr char kStreamDestroy[] = "cuStreamDestroy_v2";
  static constexpr char kStreamQuery[] = "cuStreamQuery";
  static constexpr char kStreamSynchronize[] = "cuStreamSynchronize";
  static constexpr char kStreamWaitEvent[] = "cuStreamWaitEvent";
  static constexpr char kStreamIsCapturing[] = "cuStreamIsCapturing";
  static constexpr char kExchangeCaptureMode[] = "cuThreadExchangeStreamCaptureMode";
  static constexpr char kEventCreate[] = "cuEventCreate";
  static constexpr char kEventDestroy[] = "cuEventDestroy_v2";
  static constexpr char kEventRecord[] = "cuEventRecord";
  static constexpr char kEventQuery[] = "cuEventQuery";
  static constexpr char kEventSynchronize[] = "cuEventSynchronize";

  static constexpr char kNoKernels[] = "made without nvcc";
  // A fat binary begins with the number 0xba55ed50.
  static constexpr char kModuleLoadCall[] = "cuModuleLoadData(3126193488)";
  static constexpr char kModuleGetFunction[] = "cuModuleGetFunction";
  static constexpr char kLaunch[] = "cuLaunchKernel";
  static constexpr char kIpcGetMemory[] = "cuIpcGetMemHandle";
  static constexpr char kIpcOpenCall[] = "cuIpcOpenMemHandle_v2(17, 1)";
  static constexpr char kIpcCloseMemory[] = "cuIpcCloseMemHandle";
  static constexpr char kIpcGetEvent[] = "cuIpcGetEventHandle";
  static constexpr char kIpcOpenEvent[] = "cuIpcOpenEventHandle";
};
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, RuntimeSuite, CudaCalls);

namespace {

using testing::HasSubstr;

class CudaRuntime : public VendorRuntime<CudaCalls> {};

TEST_F(CudaRuntime, TheDriverIsTheRuntime) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(api.runtime_version(self, &runtime, &driver), 0);
  EXPECT_EQ(runtime, 12040);
  EXPECT_EQ(driver, 12040);
}

TEST_F(CudaRuntime, DescribesTheDevice) {
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.architecture, "sm_90");
  EXPECT_STREQ(info.pci_bus_id, "ffff:3b:00.0");
  EXPECT_EQ(info.total_bytes, size_t{1} << 37);
  EXPECT_EQ(info.multiprocessors, 132);
}

TEST_F(CudaRuntime, ADeviceIsPushedAsItsPrimaryContext) {
  void* inner = nullptr;
  EXPECT_THAT(Calls(api.push_device(self, 0, &inner)), HasSubstr("cuCtxPushCurrent_v2(0xc0)"));
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "cuCtxPopCurrent_v2()");
  EXPECT_EQ(Calls(api.push_device(self, 0, &inner)), "cuCtxPushCurrent_v2(0xc0)")
      << "the context is retained once";
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "cuCtxPopCurrent_v2()");
  EXPECT_EQ(api.classify(self, api.push_device(self, -1, &inner)), ResultClass::kInvalidHandle);
}

TEST_F(CudaRuntime, ADeviceIsInUseIfItsPrimaryContextIsActive) {
  bool in_use = false;
  EXPECT_EQ(Calls(api.device_in_use(self, 1, &in_use)), "cuDevicePrimaryCtxGetState(1)");
  EXPECT_TRUE(in_use);
  EXPECT_NE(api.device_in_use(self, 2, &in_use), 0);
}

TEST_F(CudaRuntime, TheCurrentDeviceIsThatOfTheContextIfThereIsOne) {
  int device = -2;
  EXPECT_EQ(Calls(api.current_device(self, &device)), "");
  EXPECT_EQ(device, 1);
  std::thread([&] {
    EXPECT_EQ(api.current_device(self, &device), 0);
    EXPECT_EQ(device, -1);
  }).join();
}

TEST_F(CudaRuntime, Copies) {
  EXPECT_EQ(Calls(api.copy_async(self, At(0x10), At(0x20), 5, stream)),
            "cuMemcpyAsync(16, 32, 5, 0x5000)");
  EXPECT_THAT(Calls(api.copy_peer_async(self, At(0x10), 0, At(0x20), 1, 5, stream)),
              HasSubstr("cuMemcpyPeerAsync(16, 0xc0, 32, 0xc1, 5, 0x5000)"));
  // From plain host memory (type 1) to the device (2); the driver decides for managed memory (4).
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0xa000), 100, At(0x1000), 50, 30, 7, stream)),
            "cuMemcpy2DAsync_v2(2, 40960, 0xa000, 100, 1, 4096, 0x1000, 50, 30, 7, 0x5000)");
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0xb000), 100, At(0xd000), 50, 30, 7, stream)),
            "cuMemcpy2DAsync_v2(4, 45056, 0xb000, 100, 1, 53248, 0xd000, 50, 30, 7, 0x5000)");
}

TEST_F(CudaRuntime, FindsAStreamsDeviceByItsContext) {
  int device = -1;
  EXPECT_EQ(Calls(api.stream_device(self, NativeStream{0x5001}, &device)),
            "cuStreamGetCtx(0x5001)");
  EXPECT_EQ(device, 1);
  // The context of another library is asked for its device.
  void* inner = nullptr;
  EXPECT_EQ(Calls(api.stream_device(self, stream, &device)),
            "cuStreamGetCtx(0x5000); cuCtxPushCurrent_v2(0xd0); cuCtxPopCurrent_v2()");
  EXPECT_EQ(device, 0);
  EXPECT_EQ(api.push_device(self, 1, &inner), 0);
}

TEST_F(CudaRuntime, RecordsAnEventOverTheContext) {
  EXPECT_EQ(Calls(api.context_record_event(self, At(0xe000))), "cuCtxRecordEvent(0xc1, 0xe000)");
}

TEST_F(CudaRuntime, EnablesAccessToThePeersContext) {
  EXPECT_THAT(Calls(api.peer_enable(self, 0)), HasSubstr("cuCtxEnablePeerAccess(0xc0, 0)"));
}

}  // namespace
}  // namespace dovetail::gpu
