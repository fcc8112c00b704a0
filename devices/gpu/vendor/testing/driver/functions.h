// What functions of both vendors do alike after their types are turned into ours. The numbers of
// attributes, flags and states are the same in CUDA and in HIP.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FUNCTIONS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dovetail/devices/gpu/vendor/testing/driver/call.h"

namespace vendor_driver {

using dovetail::gpu::CaptureMode;
using dovetail::gpu::CaptureStatus;
using dovetail::gpu::DeviceInfo;
using dovetail::gpu::IpcHandle;
using dovetail::gpu::KernelImage;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;

inline constexpr int kPoolReleaseThreshold = 4;
inline constexpr int kPoolReservedBytes = 5;
inline constexpr int kPoolUsedBytes = 7;
inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr unsigned kInterprocessEvent = 4;

inline NativeStream StreamOf(const void* stream) {
  return NativeStream{reinterpret_cast<uintptr_t>(stream)};
}

// ---- Devices ----

// Writes part(info) to `*value`.
template <typename Vendor, typename Value, typename Part>
typename Vendor::Error Describe(const Call<Vendor>& call, int device, Value* value, Part part) {
  DeviceInfo info;
  const auto error = call.Ask(&RuntimeApi::device_info, device, &info);
  if (error == typename Vendor::Error{}) *value = part(info);
  return error;
}

template <typename Vendor, size_t kSize>
typename Vendor::Error DescribeText(const Call<Vendor>& call, int device,
                                    char (DeviceInfo::*text)[kSize], char* to, int size) {
  DeviceInfo info;
  const auto error = call.Ask(&RuntimeApi::device_info, device, &info);
  if (error == typename Vendor::Error{}) std::strncpy(to, info.*text, size);
  return error;
}

// ---- Memory and pools ----

template <typename Vendor>
typename Vendor::Error Fill(const Call<Vendor>& call, void* dst, uint32_t value, size_t size,
                            size_t count, NativeStream stream) {
  return call.On(&RuntimeApi::fill_async, dst, value, size, count, stream);
}

template <typename Vendor, typename Pool>
typename Vendor::Error MakePool(const Call<Vendor>& call, Pool* pool, int device) {
  return call.Do([&](const RuntimeApi&) {
    *pool = PoolHandle<Pool>(device);
    return typename Vendor::Error{};
  });
}

template <typename Vendor>
typename Vendor::Error SetPoolAttribute(const Call<Vendor>& call, int device, int attribute,
                                        const void* value) {
  if (attribute != kPoolReleaseThreshold) return Vendor::Returned(Vendor::kInvalidValue);
  const size_t threshold = *static_cast<const uint64_t*>(value);
  return call.Ask(&RuntimeApi::pool_set_release_threshold, device, threshold);
}

template <typename Vendor>
typename Vendor::Error GetPoolAttribute(const Call<Vendor>& call, int device, int attribute,
                                        void* value) {
  if (attribute != kPoolUsedBytes && attribute != kPoolReservedBytes) {
    return Vendor::Returned(Vendor::kInvalidValue);
  }
  PoolStats stats;
  const auto error = call.Ask(&RuntimeApi::pool_stats, device, &stats);
  if (error == typename Vendor::Error{}) {
    *static_cast<uint64_t*>(value) =
        attribute == kPoolUsedBytes ? stats.used_bytes : stats.reserved_bytes;
  }
  return error;
}

// `access` is an array of the vendor's descriptions of access.
template <typename Vendor, typename Access>
typename Vendor::Error SetPoolAccess(const Call<Vendor>& call, int device, const Access* access,
                                     size_t count) {
  typename Vendor::Error error{};
  for (size_t i = 0; i < count && error == typename Vendor::Error{}; ++i) {
    error = call.Ask(&RuntimeApi::pool_allow_access, device, int{access[i].location.id});
  }
  return error;
}

// ---- Streams, events and kernels ----

template <typename Vendor, typename Stream>
typename Vendor::Error MakeStream(const Call<Vendor>& call, Stream* stream, unsigned flags) {
  return call.DoOnDevice([&](const RuntimeApi& api, int device) {
    NativeStream made{};
    Result result = 0;
    if ((flags & kNonBlockingStream) != 0) {
      result = api.stream_create(api.self, &made);
    } else if (const auto make = GetBacking().make_blocking_stream) {
      made = make(device);
    } else {
      return Vendor::kInvalidValue;
    }
    if (result == 0) *stream = reinterpret_cast<Stream>(static_cast<uintptr_t>(made));
    return CodeOf<typename Vendor::Error>(result);
  });
}

template <typename Vendor, typename Status>
typename Vendor::Error GetCaptureStatus(const Call<Vendor>& call, NativeStream stream,
                                        Status* status) {
  CaptureStatus found = CaptureStatus::kNone;
  const auto error = call.On(&RuntimeApi::stream_capture_status, stream, &found);
  if (error == typename Vendor::Error{}) *status = static_cast<Status>(found);
  return error;
}

template <typename Vendor, typename Mode>
typename Vendor::Error ExchangeCaptureMode(const Call<Vendor>& call, Mode* mode) {
  auto exchanged = static_cast<CaptureMode>(*mode);
  const auto error = call.Ask(&RuntimeApi::exchange_capture_mode, &exchanged);
  if (error == typename Vendor::Error{}) *mode = static_cast<Mode>(exchanged);
  return error;
}

template <typename Vendor, typename Event>
typename Vendor::Error MakeEvent(const Call<Vendor>& call, Event* event, unsigned flags) {
  const bool is_shared = (flags & kInterprocessEvent) != 0;
  return call.Make(event, &RuntimeApi::event_create,
                   is_shared ? dovetail::gpu::kEventInterprocess : dovetail::gpu::kEventPlain);
}

// The image that the program loads is for the vendor's chips. That of the runtime is loaded
// instead.
template <typename Vendor, typename Module>
typename Vendor::Error LoadModule(const Call<Vendor>& call, Module* module) {
  KernelImage image;
  const auto error = call.DoOnDevice([&](const RuntimeApi& api, int device) {
    image = api.kernel_image(api.self, device);
    return image.data != nullptr ? typename Vendor::Error{} : Vendor::kNoImage;
  });
  if (error != typename Vendor::Error{}) return error;
  return call.Make(module, &RuntimeApi::module_load, static_cast<const KernelImage*>(&image));
}

struct Blocks {
  uint32_t x, y, z;
};
template <typename Vendor>
typename Vendor::Error Launch(const Call<Vendor>& call, void* function, Blocks grid, Blocks block,
                              uint32_t shared_bytes, NativeStream stream, void** args) {
  const uint32_t blocks[3] = {grid.x, grid.y, grid.z}, threads[3] = {block.x, block.y, block.z};
  return call.On(&RuntimeApi::launch, function, static_cast<const uint32_t*>(blocks),
                 static_cast<const uint32_t*>(threads), shared_bytes, stream, args);
}

// ---- Other processes. The vendors' handles are 64 bytes without a type. ----

template <typename Handle>
IpcHandle* OurHandle(Handle* handle) {
  static_assert(sizeof(*handle) == sizeof(IpcHandle) && alignof(Handle) == alignof(IpcHandle));
  return reinterpret_cast<IpcHandle*>(handle);
}
template <typename Handle>
const IpcHandle* OurHandle(const Handle* handle) {
  return OurHandle(const_cast<Handle*>(handle));
}

}  // namespace vendor_driver

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_DRIVER_FUNCTIONS_H_
