// Allocation, pools, pointers, copies, fills, and memory shared with other processes.

#include <cstring>
#include <utility>

#include "dovetail/devices/rocm/testing/driver/hip_call.h"

namespace vendor_driver {
namespace {

// hipMemoryType's number of host, device and managed memory.
int MemoryType(PointerKind kind) {
  constexpr bool kOld = HIP_MAJOR <= 5;
  switch (kind) {
    case PointerKind::kPinnedHost:
      return kOld ? 0 : 1;
    case PointerKind::kDevice:
      return kOld ? 1 : 2;
    case PointerKind::kManaged:
      return kOld ? 1 : 3;
    case PointerKind::kUnknown:
      break;
  }
  return 0;
}

hipError_t GetInfo(const void* ptr, PointerInfo* info) {
  return HipCall().Ask(&RuntimeApi::pointer_info, ptr, info);
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** ptr, size_t nbytes) {
  return HipCall("hipMalloc", nbytes).On(&RuntimeApi::malloc_device, nbytes, ptr);
}
hipError_t hipFree(void* ptr) { return HipCall("hipFree", ptr).On(&RuntimeApi::free_device, ptr); }
hipError_t hipMallocManaged(void** ptr, size_t nbytes, unsigned flags) {
  return HipCall("hipMallocManaged", nbytes, flags).On(&RuntimeApi::malloc_managed, nbytes, ptr);
}
hipError_t hipHostMalloc(void** ptr, size_t nbytes, unsigned flags) {
  return HipCall("hipHostMalloc", nbytes, flags).On(&RuntimeApi::malloc_host, nbytes, ptr);
}
hipError_t hipHostFree(void* ptr) {
  return HipCall("hipHostFree", ptr).On(&RuntimeApi::free_host, ptr);
}
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return HipCall().On(&RuntimeApi::memory_info, free_bytes, total_bytes);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* nbytes, hipDeviceptr_t ptr) {
  PointerInfo info{};
  const hipError_t error = GetInfo(ptr, &info);
  if (error != hipSuccess) return error;
  if (info.kind == PointerKind::kUnknown || info.base == nullptr) {
    return Hip::Returned(hipErrorInvalidValue);
  }
  *base = info.base;
  *nbytes = info.nbytes;
  return hipSuccess;
}
// HIP 5 returns an error for memory that it does not know.
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* found, const void* ptr) {
  PointerInfo info{};
  const hipError_t error = GetInfo(ptr, &info);
  if (error != hipSuccess) return error;
  if (HIP_MAJOR <= 5 && info.kind == PointerKind::kUnknown) {
    return Hip::Returned(hipErrorInvalidValue);
  }
  *found = {};
  const int type = MemoryType(info.kind);
  std::memcpy(found, &type, sizeof(type));  // the field has another name in HIP 6
  found->device = info.device;
  found->devicePointer = found->hostPointer = const_cast<void*>(ptr);
  found->isManaged = info.kind == PointerKind::kManaged;
  return hipSuccess;
}
// HIP itself does not support these two attributes yet. Here they let kernels access the memory of
// another device, as on CUDA.
hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  PointerInfo info{};
  const hipError_t error = HipCall("hipPointerGetAttribute", static_cast<int>(attribute), ptr)
                               .Ask(&RuntimeApi::pointer_info, ptr, &info);
  if (error != hipSuccess) return error;
  switch (static_cast<int>(attribute)) {
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<hipMemPool_t*>(value) = PoolHandle<hipMemPool_t>(PoolOf(ptr));
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
      *static_cast<bool*>(value) = info.kind == PointerKind::kDevice && PoolOf(ptr) == kNoPool;
      return hipSuccess;
    default:
      return Hip::Returned(hipErrorInvalidValue);
  }
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  const int device = properties->location.id;
  return MakePool(HipCall("hipMemPoolCreate", device), pool, device);
}
hipError_t hipMallocFromPoolAsync(void** ptr, size_t nbytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  if (DeviceOfPool(pool) != Hip::Current()) return Hip::Returned(hipErrorInvalidValue);
  return HipCall("hipMallocFromPoolAsync", nbytes, pool, stream)
      .On(&RuntimeApi::malloc_async, nbytes, HipStreamOf(stream), ptr);
}
hipError_t hipFreeAsync(void* ptr, hipStream_t stream) {
  return HipCall("hipFreeAsync", ptr, stream).On(&RuntimeApi::free_async, ptr, HipStreamOf(stream));
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep) {
  return HipCall("hipMemPoolTrimTo", pool, keep)
      .Ask(&RuntimeApi::pool_trim, DeviceOfPool(pool), keep);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  const HipCall call("hipMemPoolSetAttribute", pool, static_cast<int>(attribute),
                     *static_cast<uint64_t*>(value));
  return SetPoolAttribute(call, DeviceOfPool(pool), attribute, value);
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  const HipCall call("hipMemPoolGetAttribute", pool, static_cast<int>(attribute));
  return GetPoolAttribute(call, DeviceOfPool(pool), attribute, value);
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  const HipCall call("hipMemPoolSetAccess", pool, access->location.id,
                     static_cast<int>(access->flags), count);
  return SetPoolAccess(call, DeviceOfPool(pool), access, count);
}

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t nbytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return HipCall("hipMemcpyAsync", dst, src, nbytes, static_cast<int>(kind), stream)
      .On(&RuntimeApi::copy_async, dst, src, nbytes, HipStreamOf(stream));
}
hipError_t hipMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t nbytes,
                              hipStream_t stream) {
  return HipCall("hipMemcpyPeerAsync", dst, to, src, from, nbytes, stream)
      .On(&RuntimeApi::copy_peer_async, dst, to, src, from, nbytes, HipStreamOf(stream));
}
hipError_t hipMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return HipCall("hipMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height,
                 static_cast<int>(kind), stream)
      .On(&RuntimeApi::copy_2d_async, dst, dst_pitch, src, src_pitch, width, height,
          HipStreamOf(stream));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count,
                            hipStream_t stream) {
  return Fill(HipCall("hipMemsetD8Async", dst, value, count, stream), dst, value, 1, count,
              HipStreamOf(stream));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value, size_t count,
                             hipStream_t stream) {
  return Fill(HipCall("hipMemsetD16Async", dst, value, count, stream), dst, value, 2, count,
              HipStreamOf(stream));
}
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return Fill(HipCall("hipMemsetD32Async", dst, value, count, stream), dst,
              static_cast<uint32_t>(value), 4, count, HipStreamOf(stream));
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* ptr) {
  return HipCall("hipIpcGetMemHandle", ptr)
      .On(&RuntimeApi::ipc_memory_handle, ptr, OurHandle(handle));
}
// HIP 5 takes only the flag 0, HIP 6 only the flag 1.
hipError_t hipIpcOpenMemHandle(void** ptr, hipIpcMemHandle_t handle, unsigned flags) {
  if (flags != (HIP_MAJOR >= 6)) return Hip::Returned(hipErrorInvalidValue);
  return HipCall("hipIpcOpenMemHandle", int{handle.reserved[63]})
      .On(&RuntimeApi::ipc_open, OurHandle(&std::as_const(handle)), ptr);
}
hipError_t hipIpcCloseMemHandle(void* ptr) {
  return HipCall("hipIpcCloseMemHandle", ptr).On(&RuntimeApi::ipc_close, ptr);
}

}  // extern "C"

}  // namespace vendor_driver
