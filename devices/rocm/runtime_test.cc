// RuntimeApi of ROCm against a libamdhip64.so that logs its calls: the suite of all vendors, and
// HIP's own functions. Run with HIP 5, with HIP 6, and with both installed (EXPECTED_HIP is the
// version that must be loaded).

#include "dovetail/devices/rocm/runtime.h"

#include <cstdlib>
#include <string>

#include "dovetail/devices/gpu/vendor/testing/runtime_suite.h"

namespace dovetail::gpu {

inline std::string ExpectedHip() { return std::getenv("EXPECTED_HIP"); }

struct HipCalls {
  static const RuntimeApi& Api() { return RocmRuntimeApi(); }
  static std::string FakeName() { return absl::StrCat("libamdhip64.so.", ExpectedHip()); }
  static std::string Address(uintptr_t address) { return absl::StrCat("0x", absl::Hex(address)); }

  static constexpr char kOutOfMemory[] = "hipErrorOutOfMemory";
  static constexpr char kDeviceSynchronize[] = "hipDeviceSynchronize";
  static constexpr char kPeerCanAccess[] = "hipDeviceCanAccessPeer";

  static constexpr char kMalloc[] = "hipMalloc";
  static constexpr char kFree[] = "hipFree";
  static constexpr char kMallocHost[] = "hipHostMalloc";
  static constexpr char kFreeHost[] = "hipHostFree";
  static constexpr char kMallocManaged[] = "hipMallocManaged";
  static constexpr char kPoolTrim[] = "hipMemPoolTrimTo";
  static constexpr char kPoolMalloc[] = "hipMallocFromPoolAsync";
  static constexpr char kPoolFree[] = "hipFreeAsync";
  static constexpr char kPoolSetAttribute[] = "hipMemPoolSetAttribute";
  static constexpr char kPoolGetAttribute[] = "hipMemPoolGetAttribute";
  static constexpr char kPoolSetAccess[] = "hipMemPoolSetAccess";
  static constexpr char kFill8[] = "hipMemsetD8Async";
  static constexpr char kFill16[] = "hipMemsetD16Async";
  static constexpr char kFill32[] = "hipMemsetD32Async";

  static constexpr char kLegacyStream[] = "0x0";
  static constexpr char kStreamCreate[] = "hipStreamCreateWithFlags";
  static constexpr char kStreamDestroy[] = "hipStreamDestroy";
  static constexpr char kStreamQuery[] = "hipStreamQuery";
  static constexpr char kStreamSynchronize[] = "hipStreamSynchronize";
  static constexpr char kStreamWaitEvent[] = "hipStreamWaitEvent";
  static constexpr char kStreamIsCapturing[] = "hipStreamIsCapturing";
  static constexpr char kExchangeCaptureMode[] = "hipThreadExchangeStreamCaptureMode";
  static constexpr char kEventCreate[] = "hipEventCreateWithFlags";
  static constexpr char kEventDestroy[] = "hipEventDestroy";
  static constexpr char kEventRecord[] = "hipEventRecord";
  static constexpr char kEventQuery[] = "hipEventQuery";
  static constexpr char kEventSynchronize[] = "hipEventSynchronize";

  static constexpr char kNoKernels[] = "--config=rocm";
  static constexpr char kModuleLoadCall[] = "hipModuleLoadData()";
  static constexpr char kModuleGetFunction[] = "hipModuleGetFunction";
  static constexpr char kLaunch[] = "hipModuleLaunchKernel";
  static constexpr char kIpcGetMemory[] = "hipIpcGetMemHandle";
  static constexpr char kIpcOpenCall[] = "hipIpcOpenMemHandle(17)";
  static constexpr char kIpcCloseMemory[] = "hipIpcCloseMemHandle";
  static constexpr char kIpcGetEvent[] = "hipIpcGetEventHandle";
  static constexpr char kIpcOpenEvent[] = "hipIpcOpenEventHandle";
};
INSTANTIATE_TYPED_TEST_SUITE_P(Rocm, RuntimeSuite, HipCalls);

namespace {

class RocmRuntime : public VendorRuntime<HipCalls> {};

TEST_F(RocmRuntime, TakesTheNewestLibrary) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(api.runtime_version(self, &runtime, &driver), 0);
  EXPECT_EQ(std::to_string(runtime / 10000000), ExpectedHip());
  EXPECT_EQ(driver, 7);
}

TEST_F(RocmRuntime, DescribesTheDevice) {
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.architecture, "") << "no chip is at that address";
  EXPECT_STREQ(info.pci_bus_id, "ffff:3b:00.0");
  EXPECT_EQ(info.total_bytes, size_t{1} << 37);
  EXPECT_EQ(info.multiprocessors, 132);
}

TEST_F(RocmRuntime, LeavesNoErrorBehindForOthersToFind) {
  fake->Fail("hipMalloc", 2);
  void* ptr = nullptr;
  EXPECT_EQ(api.malloc_device(self, 64, &ptr), 2);
  EXPECT_EQ(fake->TakeLog(), "hipMalloc(64); hipGetLastError()");
}

TEST_F(RocmRuntime, ADeviceIsSetAndSetBack) {
  void* inner = nullptr;
  EXPECT_EQ(Calls(api.push_device(self, 0, &inner)), "hipSetDevice(0)");
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "hipSetDevice(1)");
}

TEST_F(RocmRuntime, ADeviceIsInUseIfTheLibrarySaysSo) {
  bool in_use = false;
  EXPECT_EQ(Calls(api.device_in_use(self, 1, &in_use)), "hipDevicePrimaryCtxGetState(1)");
  EXPECT_TRUE(in_use);
  in_use = false;
  EXPECT_EQ(api.classify(self, api.device_in_use(self, 0, &in_use)), ResultClass::kNotSupported)
      << "it may be in use all the same";
  EXPECT_FALSE(in_use);
  fake->TakeLog();
  int device = -1;
  EXPECT_EQ(Calls(api.current_device(self, &device)), "");
  EXPECT_EQ(device, 1);
}

TEST_F(RocmRuntime, TheRangeOfHostMemoryIsUnknown) {
  PointerInfo info;
  EXPECT_EQ(api.pointer_info(self, At(0xd010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kPinnedHost);
  EXPECT_EQ(info.base, nullptr);
}

TEST_F(RocmRuntime, Copies) {
  EXPECT_EQ(Calls(api.copy_async(self, At(0x10), At(0x20), 5, stream)),
            "hipMemcpyAsync(0x10, 0x20, 5, 4, 0x5000)");
  EXPECT_EQ(Calls(api.copy_peer_async(self, At(0x10), 0, At(0x20), 1, 5, stream)),
            "hipMemcpyPeerAsync(0x10, 0, 0x20, 1, 5, 0x5000)");
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0x10), 100, At(0x20), 50, 30, 7, stream)),
            "hipMemcpy2DAsync(0x10, 100, 0x20, 50, 30, 7, 4, 0x5000)");
}

TEST_F(RocmRuntime, FindsAStreamsDeviceByTheVersionsFunction) {
  int device = -1;
  EXPECT_EQ(Calls(api.stream_device(self, NativeStream{0x5001}, &device)),
            ExpectedHip() == "6" ? "hipStreamGetDevice(0x5001)" : "hipGetStreamDeviceId(0x5001)");
  EXPECT_EQ(device, 1);
}

TEST_F(RocmRuntime, HasNoEventOverAContext) { EXPECT_EQ(api.context_record_event, nullptr); }

TEST_F(RocmRuntime, PeersReachNoMemoryOfWhichHipDoesNotSayWhoseItIs) {
  bool reach = false;
  fake->Fail("hipPointerGetAttribute", 801);
  EXPECT_EQ(api.peers_reach(self, At(0xa110), 1, &reach), 0) << "the other attribute is asked";
  EXPECT_FALSE(reach);
}

TEST_F(RocmRuntime, EnablesAccessToThePeer) {
  EXPECT_EQ(Calls(api.peer_enable(self, 0)), "hipDeviceEnablePeerAccess(0, 0)");
}

}  // namespace
}  // namespace dovetail::gpu
