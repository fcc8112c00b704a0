// The tests that every vendor's RuntimeApi passes, against a stand-in for the vendor's library that
// logs its calls (fake_log.h): each function calls the vendor's function with the right arguments
// and returns its result.
//
//   struct CudaCalls { ... };         // the vendor's names: devices/cuda/runtime_test.cc
//   INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, RuntimeSuite, CudaCalls);
//
// The stand-ins have two devices; device 1 is current in each test. They return fixed handles:
// 0xa000 for device memory, 0xb000 for managed and 0xd000 for pinned memory, 0x901 for the pool,
// 0x5000 for a stream, 0xe000 for an event. The vendors' own functions are tested in their folders,
// with the fixture VendorRuntime.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_RUNTIME_SUITE_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_RUNTIME_SUITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/testing/fake_library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {

inline void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

// `Vendor` has Api(); FakeName(), the stand-in's file; Address(n), how the log shows a device
// address; and the names of the vendor's functions (kMalloc, ...).
template <typename Vendor>
class VendorRuntime : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    ASSERT_TRUE(api.load(api.self, &reason)) << reason;
    fake = std::make_unique<dovetail_fake::FakeLibrary>(Vendor::FakeName().c_str());
    ASSERT_TRUE(fake->is_there()) << "the test needs the stand-in, and found a real library";
    ASSERT_EQ(api.push_device(api.self, 1, &previous), 0);
    fake->TakeLog();
  }
  void TearDown() override { EXPECT_EQ(api.pop_device(api.self, previous), 0); }

  // The calls that a function made, after it succeeded.
  std::string Calls(Result result) {
    EXPECT_EQ(result, 0);
    return fake->TakeLog();
  }

  // A call as the log shows it: "cuMemAlloc_v2(64)".
  template <typename... Args>
  static std::string Call(const char* name, const Args&... args) {
    return absl::StrCat(name, "(",
                        absl::StrJoin(std::vector<std::string>{absl::StrCat(args)...}, ", "), ")");
  }
  static std::string Address(uintptr_t address) { return Vendor::Address(address); }

  const RuntimeApi& api = Vendor::Api();
  void* const self = api.self;
  const NativeStream stream{0x5000};
  std::unique_ptr<dovetail_fake::FakeLibrary> fake;
  void* previous = nullptr;
};

template <typename Vendor>
class RuntimeSuite : public VendorRuntime<Vendor> {};
TYPED_TEST_SUITE_P(RuntimeSuite);

TYPED_TEST_P(RuntimeSuite, DescribesDevices) {
  const RuntimeApi& api = this->api;
  int count = 0;
  EXPECT_EQ(api.device_count(this->self, &count), 0);
  EXPECT_EQ(count, 2);
  DeviceInfo info;
  EXPECT_EQ(api.device_info(this->self, 1, &info), 0);
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_TRUE(info.has_pools);
  EXPECT_FALSE(info.has_managed) << "the host may not touch it while the device works";
  EXPECT_TRUE(info.maps_pinned_host);
  EXPECT_EQ(api.classify(this->self, api.device_info(this->self, 2, &info)),
            ResultClass::kInvalidHandle);
}

TYPED_TEST_P(RuntimeSuite, DescribesErrors) {
  const RuntimeApi& api = this->api;
  EXPECT_EQ(api.describe(this->self, 2), absl::StrCat(TypeParam::kOutOfMemory, ": out of memory"));
  EXPECT_STREQ(api.describe(this->self, 12345), "error 12345");
  EXPECT_EQ(api.classify(this->self, 2), ResultClass::kOutOfMemory);
  EXPECT_EQ(api.classify(this->self, 600), ResultClass::kNotReady);
  EXPECT_EQ(api.classify(this->self, 906), ResultClass::kCaptureViolation);
  EXPECT_EQ(api.classify(this->self, 999), ResultClass::kOther);
}

TYPED_TEST_P(RuntimeSuite, ReturnsErrorsAndWritesNothing) {
  this->fake->Fail(TypeParam::kMalloc, 2);
  void* ptr = nullptr;
  EXPECT_EQ(this->api.malloc_device(this->self, 64, &ptr), 2);
  EXPECT_EQ(ptr, nullptr);
  this->fake->Fail(TypeParam::kStreamQuery, 600);
  EXPECT_EQ(this->api.stream_query(this->self, this->stream), 600);
}

TYPED_TEST_P(RuntimeSuite, ADeviceThatIsCurrentIsNotPushed) {
  const RuntimeApi& api = this->api;
  void* inner = At(1);
  EXPECT_EQ(this->Calls(api.push_device(this->self, 1, &inner)), "");
  EXPECT_EQ(inner, nullptr);
  EXPECT_EQ(this->Calls(api.pop_device(this->self, inner)), "");
  EXPECT_EQ(api.classify(this->self, api.push_device(this->self, 2, &inner)),
            ResultClass::kInvalidHandle);
}

TYPED_TEST_P(RuntimeSuite, Allocates) {
  const RuntimeApi& api = this->api;
  void* ptr = nullptr;
  EXPECT_EQ(this->Calls(api.malloc_device(this->self, 64, &ptr)),
            this->Call(TypeParam::kMalloc, 64));
  EXPECT_EQ(ptr, At(0xa000));
  EXPECT_EQ(this->Calls(api.free_device(this->self, ptr)),
            this->Call(TypeParam::kFree, this->Address(0xa000)));
  EXPECT_EQ(this->Calls(api.malloc_host(this->self, 65, &ptr)),
            this->Call(TypeParam::kMallocHost, 65, 3));
  EXPECT_EQ(ptr, At(0xd000));
  EXPECT_EQ(this->Calls(api.free_host(this->self, ptr)),
            this->Call(TypeParam::kFreeHost, "0xd000"));
  EXPECT_EQ(this->Calls(api.malloc_managed(this->self, 66, &ptr)),
            this->Call(TypeParam::kMallocManaged, 66, 1));
  EXPECT_EQ(ptr, At(0xb000));
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(api.memory_info(this->self, &free_bytes, &total_bytes), 0);
  EXPECT_EQ(free_bytes, 10u);
  EXPECT_EQ(total_bytes, 20u);
}

TYPED_TEST_P(RuntimeSuite, EachDeviceHasAPoolOfOurs) {
  const RuntimeApi& api = this->api;
  EXPECT_THAT(this->Calls(api.pool_trim(this->self, 1, 7)),
              testing::HasSubstr(this->Call(TypeParam::kPoolTrim, "0x901", 7)));
  void* ptr = nullptr;
  EXPECT_EQ(this->Calls(api.malloc_async(this->self, 64, this->stream, &ptr)),
            this->Call(TypeParam::kPoolMalloc, 64, "0x901", "0x5000"));
  EXPECT_EQ(ptr, At(0xa100));
  EXPECT_EQ(this->Calls(api.free_async(this->self, ptr, this->stream)),
            this->Call(TypeParam::kPoolFree, this->Address(0xa100), "0x5000"));
  EXPECT_EQ(this->Calls(api.pool_set_release_threshold(this->self, 1, SIZE_MAX)),
            this->Call(TypeParam::kPoolSetAttribute, "0x901", 4, SIZE_MAX));
  PoolStats stats;
  EXPECT_EQ(this->Calls(api.pool_stats(this->self, 1, &stats)),
            absl::StrCat(this->Call(TypeParam::kPoolGetAttribute, "0x901", 7), "; ",
                         this->Call(TypeParam::kPoolGetAttribute, "0x901", 5)));
  EXPECT_EQ(stats.used_bytes, 3u);
  EXPECT_EQ(stats.reserved_bytes, 5u);
  EXPECT_EQ(this->Calls(api.pool_allow_access(this->self, 1, 0)),
            this->Call(TypeParam::kPoolSetAccess, "0x901", 0, 3, 1));
}

TYPED_TEST_P(RuntimeSuite, SaysWhoseMemoryAPointerIs) {
  const RuntimeApi& api = this->api;
  PointerInfo info;
  EXPECT_EQ(api.pointer_info(this->self, At(0xa010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kDevice);
  EXPECT_EQ(info.device, 1);
  EXPECT_EQ(info.base, At(0xa000));
  EXPECT_EQ(info.nbytes, 4096u);
  EXPECT_EQ(api.pointer_info(this->self, At(0xb010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kManaged);
  EXPECT_EQ(api.pointer_info(this->self, At(0xd010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kPinnedHost);
  EXPECT_EQ(api.pointer_info(this->self, At(0x1010), &info), 0);
  EXPECT_EQ(info.kind, PointerKind::kUnknown);
}

TYPED_TEST_P(RuntimeSuite, FillsWithElementsOfOneTwoAndFourBytes) {
  const RuntimeApi& api = this->api;
  const std::string dst = this->Address(0x10);
  EXPECT_EQ(this->Calls(api.fill_async(this->self, At(0x10), 0x101, 1, 9, this->stream)),
            this->Call(TypeParam::kFill8, dst, 1, 9, "0x5000"));
  EXPECT_EQ(this->Calls(api.fill_async(this->self, At(0x10), 0x10002, 2, 9, this->stream)),
            this->Call(TypeParam::kFill16, dst, 2, 9, "0x5000"));
  EXPECT_EQ(this->Calls(api.fill_async(this->self, At(0x10), 3, 4, 9, this->stream)),
            this->Call(TypeParam::kFill32, dst, 3, 9, "0x5000"));
  EXPECT_EQ(api.classify(this->self, api.fill_async(this->self, At(0x10), 3, 8, 9, this->stream)),
            ResultClass::kInvalidValue);
}

TYPED_TEST_P(RuntimeSuite, RunsStreams) {
  const RuntimeApi& api = this->api;
  NativeStream made{};
  EXPECT_EQ(this->Calls(api.stream_create(this->self, &made)),
            this->Call(TypeParam::kStreamCreate, 1));
  EXPECT_EQ(made, this->stream);
  EXPECT_EQ(this->Calls(api.stream_query(this->self, made)),
            this->Call(TypeParam::kStreamQuery, "0x5000"));
  EXPECT_EQ(this->Calls(api.stream_synchronize(this->self, made)),
            this->Call(TypeParam::kStreamSynchronize, "0x5000"));
  EXPECT_EQ(this->Calls(api.stream_wait_event(this->self, made, At(0xe000))),
            this->Call(TypeParam::kStreamWaitEvent, "0x5000", "0xe000", 0));
  CaptureStatus status = CaptureStatus::kNone;
  EXPECT_EQ(this->Calls(api.stream_capture_status(this->self, made, &status)),
            this->Call(TypeParam::kStreamIsCapturing, "0x5000"));
  EXPECT_EQ(status, CaptureStatus::kActive);
  CaptureMode mode = CaptureMode::kRelaxed;
  EXPECT_EQ(this->Calls(api.exchange_capture_mode(this->self, &mode)),
            this->Call(TypeParam::kExchangeCaptureMode, 2));
  EXPECT_EQ(mode, CaptureMode::kGlobal);
  EXPECT_EQ(this->Calls(api.stream_destroy(this->self, made)),
            this->Call(TypeParam::kStreamDestroy, "0x5000"));
  EXPECT_EQ(this->Calls(api.stream_query(this->self, api.legacy_stream)),
            this->Call(TypeParam::kStreamQuery, TypeParam::kLegacyStream));
  EXPECT_EQ(this->Calls(api.stream_query(this->self, api.per_thread_stream)),
            this->Call(TypeParam::kStreamQuery, "0x2"));
}

TYPED_TEST_P(RuntimeSuite, RunsEvents) {
  const RuntimeApi& api = this->api;
  NativeEvent event = nullptr;
  EXPECT_EQ(this->Calls(api.event_create(this->self, kEventPlain, &event)),
            this->Call(TypeParam::kEventCreate, 2));
  EXPECT_EQ(event, At(0xe000));
  EXPECT_EQ(this->Calls(api.event_create(this->self, kEventInterprocess, &event)),
            this->Call(TypeParam::kEventCreate, 6));
  EXPECT_EQ(this->Calls(api.event_record(this->self, event, this->stream)),
            this->Call(TypeParam::kEventRecord, "0xe000", "0x5000"));
  EXPECT_EQ(this->Calls(api.event_query(this->self, event)),
            this->Call(TypeParam::kEventQuery, "0xe000"));
  EXPECT_EQ(this->Calls(api.event_synchronize(this->self, event)),
            this->Call(TypeParam::kEventSynchronize, "0xe000"));
  EXPECT_EQ(this->Calls(api.event_destroy(this->self, event)),
            this->Call(TypeParam::kEventDestroy, "0xe000"));
  EXPECT_EQ(this->Calls(api.device_synchronize(this->self)),
            this->Call(TypeParam::kDeviceSynchronize));
}

TYPED_TEST_P(RuntimeSuite, AsksForAccessBetweenDevices) {
  bool can = false;
  EXPECT_EQ(this->Calls(this->api.peer_can_access(this->self, 0, 1, &can)),
            this->Call(TypeParam::kPeerCanAccess, 0, 1));
  EXPECT_TRUE(can);
}

// The stand-ins have plain memory at 0xa0.., of our pool at 0xa1.., of another pool at 0xa3...
TYPED_TEST_P(RuntimeSuite, SaysWhichMemoryPeersReach) {
  const auto reach = [this](uintptr_t address) {
    bool answer = false;
    EXPECT_EQ(this->api.peers_reach(this->self, At(address), 1, &answer), 0);
    return answer;
  };
  EXPECT_TRUE(reach(0xa010));
  EXPECT_TRUE(reach(0xa110));
  EXPECT_FALSE(reach(0xa310));
}

TYPED_TEST_P(RuntimeSuite, LaunchesKernelsOrSaysWhyThereAreNone) {
  const RuntimeApi& api = this->api;
  const KernelImage image = api.kernel_image(this->self, 1);
  EXPECT_EQ(image.data != nullptr, std::string(image.reason).empty());
  if (image.data == nullptr) {
    EXPECT_THAT(image.reason, testing::HasSubstr(TypeParam::kNoKernels));
  } else {
    NativeModule module = nullptr;
    EXPECT_EQ(this->Calls(api.module_load(this->self, &image, &module)),
              TypeParam::kModuleLoadCall);
    EXPECT_EQ(module, At(0x7000));
  }
  NativeFunction function = nullptr;
  EXPECT_EQ(this->Calls(api.module_function(this->self, At(0x7000), kKernelNames[0], &function)),
            this->Call(TypeParam::kModuleGetFunction, "0x7000", "dovetail_copy_1"));
  EXPECT_EQ(function, At(0x7100));
  const uint32_t grid[3] = {1, 2, 3}, block[3] = {4, 5, 6};
  EXPECT_EQ(
      this->Calls(api.launch(this->self, function, grid, block, 7, this->stream,
                             reinterpret_cast<void**>(0x8000))),
      this->Call(TypeParam::kLaunch, "0x7100", 1, 2, 3, 4, 5, 6, 7, "0x5000", "0x8000", "0x0"));
}

TYPED_TEST_P(RuntimeSuite, SharesMemoryAndEventsWithOtherProcesses) {
  const RuntimeApi& api = this->api;
  IpcHandle handle = {};
  EXPECT_EQ(this->Calls(api.ipc_memory_handle(this->self, At(0x10), &handle)),
            this->Call(TypeParam::kIpcGetMemory, this->Address(0x10)));
  EXPECT_EQ(handle.bytes[63], 0x11);
  void* ptr = nullptr;
  EXPECT_THAT(this->Calls(api.ipc_open(this->self, &handle, &ptr)),
              testing::HasSubstr(TypeParam::kIpcOpenCall));
  EXPECT_EQ(ptr, At(0xa200));
  EXPECT_EQ(this->Calls(api.ipc_close(this->self, ptr)),
            this->Call(TypeParam::kIpcCloseMemory, this->Address(0xa200)));
  EXPECT_EQ(this->Calls(api.ipc_event_handle(this->self, At(0xe000), &handle)),
            this->Call(TypeParam::kIpcGetEvent, "0xe000"));
  EXPECT_EQ(handle.bytes[63], 0x22);
  NativeEvent event = nullptr;
  EXPECT_EQ(this->Calls(api.ipc_open_event(this->self, &handle, &event)),
            this->Call(TypeParam::kIpcOpenEvent, 34));
  EXPECT_EQ(event, At(0xe200));
}

REGISTER_TYPED_TEST_SUITE_P(RuntimeSuite, DescribesDevices, DescribesErrors,
                            ReturnsErrorsAndWritesNothing, ADeviceThatIsCurrentIsNotPushed,
                            Allocates, EachDeviceHasAPoolOfOurs, SaysWhoseMemoryAPointerIs,
                            FillsWithElementsOfOneTwoAndFourBytes, RunsStreams, RunsEvents,
                            AsksForAccessBetweenDevices, SaysWhichMemoryPeersReach,
                            LaunchesKernelsOrSaysWhyThereAreNone,
                            SharesMemoryAndEventsWithOtherProcesses);

}  // namespace dovetail::gpu

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_RUNTIME_SUITE_H_
