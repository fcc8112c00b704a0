#include "dovetail/devices/gpu/vendor/testing/driver/fixed_runtime.h"

#include <cstdint>
#include <cstring>

#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "dovetail/devices/gpu/vendor/testing/fake_log.h"

namespace vendor_driver {
namespace {

using dovetail::gpu::CaptureMode;
using dovetail::gpu::CaptureStatus;
using dovetail::gpu::DeviceInfo;
using dovetail::gpu::IpcHandle;
using dovetail::gpu::KernelImage;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;

constexpr int kDevices = 2;
constexpr Result kInvalidDevice = 101;  // of both vendors

bool is_used[kDevices] = {};

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }
uintptr_t Number(const void* ptr) { return reinterpret_cast<uintptr_t>(ptr); }

bool Exists(int device) { return device >= 0 && device < kDevices; }

// The answers of a whole function: success, and a handle.
template <typename... Args>
Result Succeed(void*, Args...) {
  return 0;
}
template <uintptr_t kHandle, typename Arg>
Result Make(void*, Arg, void** made) {
  *made = At(kHandle);
  return 0;
}
template <uintptr_t kHandle, typename First, typename Second>
Result Make(void*, First, Second, void** made) {
  *made = At(kHandle);
  return 0;
}

// ---- Devices ----

Result DeviceCount(void*, int* count) {
  *count = dovetail_fake::Setting("FAKE_DEVICES", kDevices);
  return 0;
}

Result GetDeviceInfo(void*, int device, DeviceInfo* info) {
  if (!Exists(device)) return kInvalidDevice;
  *info = {.name = "Fake GPU",
           .architecture = "sm_90",
           .pci_bus_id = "ffff:3b:00.0",  // no chip is at that address
           .total_bytes = size_t{1} << 37,
           .multiprocessors = 132,
           .has_pools = true,
           .has_managed = false,
           .maps_pinned_host = true};
  return 0;
}

Result PushDevice(void*, int device, void**) {
  if (!Exists(device)) return kInvalidDevice;
  is_used[device] = true;
  return 0;
}

Result DeviceInUse(void*, int device, bool* in_use) {
  if (!Exists(device)) return kInvalidDevice;
  *in_use = is_used[device];
  return 0;
}

// ---- Memory ----

Result GetPointerInfo(void*, const void* ptr, PointerInfo* info) {
  const uintptr_t page = Number(ptr) >> 12;
  *info = {PointerKind::kUnknown, 1, At(page << 12), 4096};
  if (page == 0xa) info->kind = PointerKind::kDevice;
  if (page == 0xb) info->kind = PointerKind::kManaged;
  if (page == 0xd) *info = {PointerKind::kPinnedHost, 1, nullptr, 0};
  return 0;
}

// ---- The whole ----

template <int kByte>
Result GetHandle(void*, void*, IpcHandle* handle) {
  std::memset(handle, kByte, sizeof(*handle));
  return 0;
}

void FillMemory(RuntimeApi& api) {
  api.malloc_device = Make<0xa000>;
  api.malloc_async = Make<0xa100>;
  api.malloc_managed = Make<0xb000>;
  api.malloc_host = Make<0xd000>;
  api.free_device = Succeed;
  api.free_host = Succeed;
  api.free_async = Succeed;
  api.memory_info = [](void*, size_t* free_bytes, size_t* total_bytes) -> Result {
    *free_bytes = 10;
    *total_bytes = 20;
    return 0;
  };
  api.pointer_info = GetPointerInfo;
  api.pool_trim = Succeed;
  api.pool_set_release_threshold = Succeed;
  api.pool_stats = [](void*, int, PoolStats* stats) -> Result {
    *stats = {3, 5};
    return 0;
  };
  api.pool_allow_access = Succeed;
  api.copy_async = Succeed;
  api.copy_peer_async = Succeed;
  api.copy_2d_async = Succeed;
  api.fill_async = Succeed;
  api.ipc_memory_handle = GetHandle<0x11>;
  api.ipc_open = Make<0xa200>;
  api.ipc_close = Succeed;
}

void FillStreams(RuntimeApi& api) {
  api.stream_create = [](void*, NativeStream* stream) -> Result {
    *stream = NativeStream{0x5000};
    return 0;
  };
  api.stream_destroy = Succeed;
  api.stream_query = Succeed;
  api.stream_synchronize = Succeed;
  api.stream_wait_event = Succeed;
  api.stream_capture_status = [](void*, NativeStream, CaptureStatus* status) -> Result {
    *status = CaptureStatus::kActive;
    return 0;
  };
  // 16: the context of another library (cuda_call.h).
  api.stream_device = [](void*, NativeStream stream, int* device) -> Result {
    *device = stream == NativeStream{0x5001} ? 1 : 16;
    return 0;
  };
  api.exchange_capture_mode = [](void*, CaptureMode* mode) -> Result {
    *mode = CaptureMode::kGlobal;
    return 0;
  };
  api.event_create = Make<0xe000>;
  api.event_destroy = Succeed;
  api.event_record = Succeed;
  api.event_query = Succeed;
  api.event_synchronize = Succeed;
  api.context_record_event = Succeed;
  api.ipc_event_handle = GetHandle<0x22>;
  api.ipc_open_event = Make<0xe200>;
}

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.device_count = DeviceCount;
  api.device_info = GetDeviceInfo;
  api.push_device = PushDevice;
  api.pop_device = Succeed;
  api.device_in_use = DeviceInUse;
  api.device_synchronize = Succeed;
  api.peer_can_access = [](void*, int device, int peer, bool* can) -> Result {
    *can = device != peer;
    return 0;
  };
  api.peer_enable = Succeed;
  FillMemory(api);
  FillStreams(api);
  api.kernel_image = [](void*, int) { return KernelImage{.data = "an image", .nbytes = 8}; };
  api.module_load = Make<0x7000>;
  api.module_function = Make<0x7100>;
  api.launch = Succeed;
  return api;
}

}  // namespace

const RuntimeApi& FixedRuntime() {
  static const RuntimeApi* const api = new RuntimeApi(MakeApi());
  return *api;
}

int FixedPoolOf(const void* ptr) {
  const uintptr_t part = Number(ptr) >> 8;
  return part == 0xa1 ? 1 : part == 0xa3 ? kOtherPool : kNoPool;
}

}  // namespace vendor_driver
