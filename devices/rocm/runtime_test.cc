// RuntimeApi of ROCm against a libamdhip64.so that notes its calls: every function calls HIP's with
// the right arguments and hands on what it answers. Run against a HIP 5, a HIP 6, and both in one
// place (EXPECTED_HIP says which one is to be taken).

#include "dovetail/devices/rocm/runtime.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/vendor/testing/fake_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::HasSubstr;

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

class RocmRuntime : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    ASSERT_TRUE(api.load(api.self, &reason)) << reason;
    fake = new dovetail_fake::FakeLibrary(("libamdhip64.so." + expected).c_str());
    ASSERT_TRUE(fake->is_there()) << "the test needs the stand-in, and found a real library";
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

  const std::string expected = std::getenv("EXPECTED_HIP");
  const RuntimeApi& api = RocmRuntimeApi();
  void* const self = api.self;
  const NativeStream stream{0x5000};
  dovetail_fake::FakeLibrary* fake = nullptr;
  void* previous = nullptr;
};

TEST_F(RocmRuntime, TakesTheNewestLibraryThatThereIs) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(api.runtime_version(self, &runtime, &driver), 0);
  EXPECT_EQ(std::to_string(runtime / 10000000), expected);
  EXPECT_EQ(driver, 7);
}

TEST_F(RocmRuntime, DescribesDevices) {
  int count = 0;
  EXPECT_EQ(api.device_count(self, &count), 0);
  EXPECT_EQ(count, 2);
  DeviceInfo info;
  EXPECT_EQ(api.device_info(self, 1, &info), 0);
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_STREQ(info.architecture, "") << "no chip is at that address";
  EXPECT_STREQ(info.pci_bus_id, "ffff:3b:00.0");
  EXPECT_EQ(info.total_bytes, size_t{1} << 36);
  EXPECT_EQ(info.multiprocessors, 110);
  EXPECT_TRUE(info.has_pools);
  EXPECT_FALSE(info.has_managed);
  EXPECT_TRUE(info.maps_pinned_host);
  EXPECT_EQ(api.classify(self, api.device_info(self, 2, &info)), ResultClass::kInvalidHandle);
}

TEST_F(RocmRuntime, DescribesErrors) {
  EXPECT_STREQ(api.describe(self, 2), "hipErrorOutOfMemory: out of memory");
  EXPECT_STREQ(api.describe(self, 12345), "error 12345");
  EXPECT_EQ(api.classify(self, 2), ResultClass::kOutOfMemory);
}

TEST_F(RocmRuntime, HandsErrorsOnAndLeavesNoneBehindForOthersToFind) {
  fake->Fail("hipMalloc", 2);
  void* ptr = nullptr;
  EXPECT_EQ(api.malloc_device(self, 64, &ptr), 2);
  EXPECT_EQ(ptr, nullptr);
  EXPECT_EQ(fake->TakeLog(), "hipMalloc(64); hipGetLastError()");
}

TEST_F(RocmRuntime, ADeviceIsSetOnlyWhereItIsNotCurrent) {
  void* inner = At(1);
  EXPECT_EQ(Calls(api.push_device(self, 1, &inner)), "");
  EXPECT_EQ(inner, nullptr);
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "");
  EXPECT_EQ(Calls(api.push_device(self, 0, &inner)), "hipSetDevice(0)");
  EXPECT_EQ(Calls(api.pop_device(self, inner)), "hipSetDevice(1)");
  EXPECT_EQ(api.classify(self, api.push_device(self, 2, &inner)), ResultClass::kInvalidHandle);
}

TEST_F(RocmRuntime, Allocates) {
  void* ptr = nullptr;
  EXPECT_EQ(Calls(api.malloc_device(self, 64, &ptr)), "hipMalloc(64)");
  EXPECT_EQ(ptr, At(0xa000));
  EXPECT_EQ(Calls(api.free_device(self, ptr)), "hipFree(0xa000)");
  EXPECT_EQ(Calls(api.malloc_host(self, 65, &ptr)), "hipHostMalloc(65, 3)");
  EXPECT_EQ(ptr, At(0xd000));
  EXPECT_EQ(Calls(api.free_host(self, ptr)), "hipHostFree(0xd000)");
  EXPECT_EQ(Calls(api.malloc_managed(self, 66, &ptr)), "hipMallocManaged(66, 1)");
  EXPECT_EQ(ptr, At(0xb000));
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(api.memory_info(self, &free_bytes, &total_bytes), 0);
  EXPECT_EQ(free_bytes, 10u);
  EXPECT_EQ(total_bytes, 20u);
}

TEST_F(RocmRuntime, APoolOfItsOwnServesEachDevice) {
  EXPECT_THAT(Calls(api.pool_trim(self, 1, 7)), HasSubstr("hipMemPoolTrimTo(0x901, 7)"));
  void* ptr = nullptr;
  EXPECT_EQ(Calls(api.malloc_async(self, 64, stream, &ptr)),
            "hipMallocFromPoolAsync(64, 0x901, 0x5000)");
  EXPECT_EQ(ptr, At(0xa100));
  EXPECT_EQ(Calls(api.free_async(self, ptr, stream)), "hipFreeAsync(0xa100, 0x5000)");
  EXPECT_EQ(Calls(api.pool_set_release_threshold(self, 1, SIZE_MAX)),
            "hipMemPoolSetAttribute(0x901, 4, 18446744073709551615)");
  PoolStats stats;
  EXPECT_EQ(Calls(api.pool_stats(self, 1, &stats)),
            "hipMemPoolGetAttribute(0x901, 7); hipMemPoolGetAttribute(0x901, 5)");
  EXPECT_EQ(stats.used_bytes, 3u);
  EXPECT_EQ(stats.reserved_bytes, 5u);
  EXPECT_EQ(Calls(api.pool_allow_access(self, 1, 0)), "hipMemPoolSetAccess(0x901, 0, 3, 1)");
}

TEST_F(RocmRuntime, TellsWhoseMemoryAPointerIsByTheNumbersOfTheVersion) {
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
  EXPECT_EQ(info.base, nullptr) << "the library does not know the range";
  EXPECT_EQ(api.pointer_info(self, At(0x1010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kUnknown);
}

TEST_F(RocmRuntime, CopiesAndFills) {
  EXPECT_EQ(Calls(api.copy_async(self, At(0x10), At(0x20), 5, stream)),
            "hipMemcpyAsync(0x10, 0x20, 5, 4, 0x5000)");
  EXPECT_EQ(Calls(api.copy_peer_async(self, At(0x10), 0, At(0x20), 1, 5, stream)),
            "hipMemcpyPeerAsync(0x10, 0, 0x20, 1, 5, 0x5000)");
  EXPECT_EQ(Calls(api.copy_2d_async(self, At(0x10), 100, At(0x20), 50, 30, 7, stream)),
            "hipMemcpy2DAsync(0x10, 100, 0x20, 50, 30, 7, 4, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 0x101, 1, 9, stream)),
            "hipMemsetD8Async(0x10, 1, 9, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 0x10002, 2, 9, stream)),
            "hipMemsetD16Async(0x10, 2, 9, 0x5000)");
  EXPECT_EQ(Calls(api.fill_async(self, At(0x10), 3, 4, 9, stream)),
            "hipMemsetD32Async(0x10, 3, 9, 0x5000)");
  EXPECT_EQ(api.classify(self, api.fill_async(self, At(0x10), 3, 8, 9, stream)),
            ResultClass::kInvalidValue);
}

TEST_F(RocmRuntime, RunsStreams) {
  NativeStream made{};
  EXPECT_EQ(Calls(api.stream_create(self, &made)), "hipStreamCreateWithFlags(1)");
  EXPECT_EQ(made, stream);
  EXPECT_EQ(Calls(api.stream_query(self, made)), "hipStreamQuery(0x5000)");
  EXPECT_EQ(Calls(api.stream_synchronize(self, made)), "hipStreamSynchronize(0x5000)");
  EXPECT_EQ(Calls(api.stream_wait_event(self, made, At(0xe000))),
            "hipStreamWaitEvent(0x5000, 0xe000, 0)");
  CaptureStatus status = CaptureStatus::kNone;
  EXPECT_EQ(Calls(api.stream_capture_status(self, made, &status)), "hipStreamIsCapturing(0x5000)");
  EXPECT_EQ(status, CaptureStatus::kActive);
  CaptureMode mode = CaptureMode::kRelaxed;
  EXPECT_EQ(Calls(api.exchange_capture_mode(self, &mode)), "hipThreadExchangeStreamCaptureMode(2)");
  EXPECT_EQ(mode, CaptureMode::kGlobal);
  int device = -1;
  EXPECT_EQ(Calls(api.stream_device(self, made, &device)),
            expected == "6" ? "hipStreamGetDevice(0x5000)" : "hipGetStreamDeviceId(0x5000)");
  EXPECT_EQ(device, 1);
  EXPECT_EQ(Calls(api.stream_destroy(self, made)), "hipStreamDestroy(0x5000)");
  EXPECT_EQ(Calls(api.stream_query(self, api.legacy_stream)), "hipStreamQuery(0x0)");
  EXPECT_EQ(Calls(api.stream_query(self, api.per_thread_stream)), "hipStreamQuery(0x2)");
}

TEST_F(RocmRuntime, RunsEvents) {
  NativeEvent event = nullptr;
  EXPECT_EQ(Calls(api.event_create(self, kEventPlain, &event)), "hipEventCreateWithFlags(2)");
  EXPECT_EQ(event, At(0xe000));
  EXPECT_EQ(Calls(api.event_create(self, kEventInterprocess, &event)),
            "hipEventCreateWithFlags(6)");
  EXPECT_EQ(Calls(api.event_record(self, event, stream)), "hipEventRecord(0xe000, 0x5000)");
  EXPECT_EQ(Calls(api.event_query(self, event)), "hipEventQuery(0xe000)");
  EXPECT_EQ(Calls(api.event_synchronize(self, event)), "hipEventSynchronize(0xe000)");
  EXPECT_EQ(Calls(api.event_destroy(self, event)), "hipEventDestroy(0xe000)");
  EXPECT_EQ(api.context_record_event, nullptr) << "HIP has nothing of the kind";
  EXPECT_EQ(Calls(api.device_synchronize(self)), "hipDeviceSynchronize()");
}

TEST_F(RocmRuntime, AsksForAccessBetweenDevices) {
  bool can = false;
  EXPECT_EQ(Calls(api.peer_can_access(self, 0, 1, &can)), "hipDeviceCanAccessPeer(0, 1)");
  EXPECT_TRUE(can);
  EXPECT_EQ(Calls(api.peer_enable(self, 0)), "hipDeviceEnablePeerAccess(0, 0)");
}

TEST_F(RocmRuntime, LaunchesKernelsAndSaysWhereThereAreNone) {
  const KernelImage image = api.kernel_image(self, 1);
  EXPECT_EQ(image.data != nullptr, std::string_view(image.reason).empty());
  if (image.data == nullptr) {
    EXPECT_THAT(image.reason, HasSubstr("--config=rocm"));
  }
  NativeModule module = nullptr;
  EXPECT_EQ(Calls(api.module_load(self, &image, &module)), "hipModuleLoadData()");
  EXPECT_EQ(module, At(0x7000));
  NativeFunction function = nullptr;
  EXPECT_EQ(Calls(api.module_function(self, module, kKernelNames[0], &function)),
            "hipModuleGetFunction(0x7000, dovetail_copy_1)");
  EXPECT_EQ(function, At(0x7100));
  const uint32_t grid[3] = {1, 2, 3}, block[3] = {4, 5, 6};
  EXPECT_EQ(
      Calls(api.launch(self, function, grid, block, 7, stream, reinterpret_cast<void**>(0x8000))),
      "hipModuleLaunchKernel(0x7100, 1, 2, 3, 4, 5, 6, 7, 0x5000, 0x8000, 0x0)");
}

TEST_F(RocmRuntime, SharesMemoryAndEventsWithOtherProcesses) {
  IpcHandle handle = {};
  EXPECT_EQ(Calls(api.ipc_memory_handle(self, At(0x10), &handle)), "hipIpcGetMemHandle(0x10)");
  EXPECT_EQ(handle.bytes[63], 0x11);
  void* ptr = nullptr;
  EXPECT_THAT(Calls(api.ipc_open(self, &handle, &ptr)), HasSubstr("hipIpcOpenMemHandle(17)"));
  EXPECT_EQ(ptr, At(0xa200));
  EXPECT_EQ(Calls(api.ipc_close(self, ptr)), "hipIpcCloseMemHandle(0xa200)");
  EXPECT_EQ(Calls(api.ipc_event_handle(self, At(0xe000), &handle)), "hipIpcGetEventHandle(0xe000)");
  EXPECT_EQ(handle.bytes[63], 0x22);
  NativeEvent event = nullptr;
  EXPECT_EQ(Calls(api.ipc_open_event(self, &handle, &event)), "hipIpcOpenEventHandle(34)");
  EXPECT_EQ(event, At(0xe200));
}

}  // namespace
}  // namespace dovetail::gpu
