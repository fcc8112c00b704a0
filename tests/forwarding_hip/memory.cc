// Allocation, pools, pointers, and memory shared with other processes.

#include <cstring>

#include "tests/forwarding_hip/forward.h"

using dovetail::gpu::IpcHandle;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;
using forwarding_hip::CurrentDevice;
using forwarding_hip::Forward;
using forwarding_hip::Keep;
using forwarding_hip::RuntimeApi;
using forwarding_hip::StreamOf;

namespace {

// A pool's handle is a number that names the device, whose CUDA pool is used.
hipMemPool_t PoolOf(int device) { return reinterpret_cast<hipMemPool_t>(intptr_t{device} + 1); }
int DeviceOf(hipMemPool_t pool) { return static_cast<int>(reinterpret_cast<intptr_t>(pool) - 1); }

// HIP 6's fields, by the names of the header that this is compiled with.
struct Attributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
};
static_assert(sizeof(Attributes) <= sizeof(hipPointerAttribute_t));

template <typename Vendor>
IpcHandle HandleOf(const Vendor& vendor) {
  IpcHandle handle;
  static_assert(sizeof(handle) == sizeof(vendor));
  std::memcpy(&handle, &vendor, sizeof(handle));
  return handle;
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** ptr, size_t nbytes) {
  return Forward(&RuntimeApi::malloc_device, nbytes, ptr);
}
hipError_t hipFree(void* ptr) { return Forward(&RuntimeApi::free_device, ptr); }
hipError_t hipMallocManaged(void** ptr, size_t nbytes, unsigned) {
  return Forward(&RuntimeApi::malloc_managed, nbytes, ptr);
}
hipError_t hipHostMalloc(void** ptr, size_t nbytes, unsigned) {
  return Forward(&RuntimeApi::malloc_host, nbytes, ptr);
}
hipError_t hipHostFree(void* ptr) { return Forward(&RuntimeApi::free_host, ptr); }
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return Forward(&RuntimeApi::memory_info, free_bytes, total_bytes);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* nbytes, hipDeviceptr_t ptr) {
  PointerInfo info;
  const hipError_t error = Forward(&RuntimeApi::pointer_info, static_cast<const void*>(ptr), &info);
  if (error != hipSuccess) return error;
  if (info.kind == PointerKind::kUnknown || info.base == nullptr) {
    return Keep(hipErrorInvalidValue);
  }
  *base = info.base;
  *nbytes = info.nbytes;
  return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  PointerInfo info;
  const hipError_t error = Forward(&RuntimeApi::pointer_info, ptr, &info);
  if (error != hipSuccess) return error;
  void* const address = const_cast<void*>(ptr);
  const bool managed = info.kind == PointerKind::kManaged;
  const int type = info.kind == PointerKind::kPinnedHost ? 1
                   : info.kind == PointerKind::kDevice   ? 2
                   : managed                             ? 3
                                                         : 0;
  const Attributes found = {type, info.device, address, address, managed, 0};
  std::memcpy(attributes, &found, sizeof(found));
  return hipSuccess;
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  *pool = PoolOf(properties->location.id);
  return hipSuccess;
}
hipError_t hipMallocFromPoolAsync(void** ptr, size_t nbytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  if (DeviceOf(pool) != CurrentDevice()) return Keep(hipErrorInvalidValue);
  return Forward(&RuntimeApi::malloc_async, nbytes, StreamOf(stream), ptr);
}
hipError_t hipFreeAsync(void* ptr, hipStream_t stream) {
  return Forward(&RuntimeApi::free_async, ptr, StreamOf(stream));
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep) {
  return Forward(&RuntimeApi::pool_trim, DeviceOf(pool), keep);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (attribute != hipMemPoolAttrReleaseThreshold) return Keep(hipErrorInvalidValue);
  const size_t threshold = *static_cast<uint64_t*>(value);
  return Forward(&RuntimeApi::pool_set_release_threshold, DeviceOf(pool), threshold);
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  PoolStats stats;
  const hipError_t error = Forward(&RuntimeApi::pool_stats, DeviceOf(pool), &stats);
  if (error != hipSuccess) return error;
  switch (attribute) {
    case hipMemPoolAttrUsedMemCurrent:
      *static_cast<uint64_t*>(value) = stats.used_bytes;
      return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
      *static_cast<uint64_t*>(value) = stats.reserved_bytes;
      return hipSuccess;
    default:
      return Keep(hipErrorInvalidValue);
  }
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const hipError_t error =
        Forward(&RuntimeApi::pool_allow_access, DeviceOf(pool), int{access[i].location.id});
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* ptr) {
  IpcHandle made;
  const hipError_t error = Forward(&RuntimeApi::ipc_memory_handle, ptr, &made);
  if (error == hipSuccess) std::memcpy(handle, &made, sizeof(made));
  return error;
}
hipError_t hipIpcOpenMemHandle(void** ptr, hipIpcMemHandle_t handle, unsigned) {
  const IpcHandle made = HandleOf(handle);
  return Forward(&RuntimeApi::ipc_open, &made, ptr);
}
hipError_t hipIpcCloseMemHandle(void* ptr) { return Forward(&RuntimeApi::ipc_close, ptr); }
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  IpcHandle made;
  const hipError_t error = Forward(&RuntimeApi::ipc_event_handle, static_cast<void*>(event), &made);
  if (error == hipSuccess) std::memcpy(handle, &made, sizeof(made));
  return error;
}
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  const IpcHandle made = HandleOf(handle);
  void* opened = nullptr;
  const hipError_t error = Forward(&RuntimeApi::ipc_open_event, &made, &opened);
  if (error == hipSuccess) *event = static_cast<hipEvent_t>(opened);
  return error;
}

}  // extern "C"
