// A libamdhip64.so that only logs its calls (devices/gpu/vendor/testing/fake_log.h). HIP's headers
// declare the functions, so that the compiler checks their signatures. FAKE_HIP_MAJOR is the
// version that it imitates: 5 and 6 number memory types differently.

#include <cstring>

#include "dovetail/devices/gpu/vendor/testing/fake_log.h"
#include "hip/hip_runtime_api.h"

DOVETAIL_FAKE_EXPORTS

namespace {

template <typename... Args>
hipError_t Call(const char* name, const Args&... args) {
  return dovetail_fake::Fake<hipError_t>(name, args...);
}

template <typename Handle>
Handle Made(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

uintptr_t Number(const void* ptr) { return reinterpret_cast<uintptr_t>(ptr); }

thread_local int current = 0;

}  // namespace

extern "C" {

hipError_t hipRuntimeGetVersion(int* version) {
  *version = dovetail_fake::Setting("FAKE_HIP_VERSION", FAKE_HIP_MAJOR * 10000000 + 200000);
  return hipSuccess;
}
hipError_t hipDriverGetVersion(int* version) {
  *version = 7;
  return hipSuccess;
}
const char* hipGetErrorName(hipError_t error) {
  return error == hipErrorOutOfMemory ? "hipErrorOutOfMemory"
         : error == hipErrorNoDevice  ? "hipErrorNoDevice"
                                      : nullptr;
}
const char* hipGetErrorString(hipError_t error) {
  return error == hipErrorOutOfMemory ? "out of memory" : nullptr;
}
hipError_t hipGetLastError() { return Call("hipGetLastError"); }

hipError_t hipGetDeviceCount(int* count) {
  *count = dovetail_fake::Setting("FAKE_HIP_DEVICES", 2);
  return hipSuccess;
}
hipError_t hipGetDevice(int* device) {
  *device = current;
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  if (device < 0 || device > 1) return hipErrorInvalidDevice;
  current = device;
  return Call("hipSetDevice", device);
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == current;
  return Call("hipDevicePrimaryCtxGetState", device);
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  *device = ordinal;
  return ordinal < 0 || ordinal > 1 ? hipErrorInvalidDevice : hipSuccess;
}
hipError_t hipDeviceGetName(char* name, int size, hipDevice_t) {
  std::strncpy(name, "Fake GPU", size);
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
  *value = attribute == hipDeviceAttributeMultiprocessorCount    ? 110
           : attribute == hipDeviceAttributeMemoryPoolsSupported ? 1
           : attribute == hipDeviceAttributeCanMapHostMemory     ? 1
                                                                 : 0;
  return hipSuccess;
}
hipError_t hipDeviceGetPCIBusId(char* id, int size, int) {
  std::strncpy(id, "ffff:3b:00.0", size);
  return hipSuccess;
}
hipError_t hipDeviceTotalMem(size_t* nbytes, hipDevice_t) {
  *nbytes = size_t{1} << 36;
  return hipSuccess;
}
hipError_t hipDeviceSynchronize() { return Call("hipDeviceSynchronize"); }
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return Call("hipDeviceCanAccessPeer", device, peer);
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Call("hipDeviceEnablePeerAccess", peer, flags);
}

hipError_t hipMalloc(void** ptr, size_t nbytes) {
  const hipError_t result = Call("hipMalloc", nbytes);
  if (result == hipSuccess) *ptr = Made<void*>(0xa000);
  return result;
}
hipError_t hipFree(void* ptr) { return Call("hipFree", ptr); }
hipError_t hipMallocManaged(void** ptr, size_t nbytes, unsigned flags) {
  *ptr = Made<void*>(0xb000);
  return Call("hipMallocManaged", nbytes, flags);
}
hipError_t hipHostMalloc(void** ptr, size_t nbytes, unsigned flags) {
  *ptr = Made<void*>(0xd000);
  return Call("hipHostMalloc", nbytes, flags);
}
hipError_t hipHostFree(void* ptr) { return Call("hipHostFree", ptr); }
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = 10;
  *total_bytes = 20;
  return hipSuccess;
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* nbytes, hipDeviceptr_t ptr) {
  if (Number(ptr) >> 12 == 0xd) return hipErrorInvalidValue;
  *base = Made<hipDeviceptr_t>(Number(ptr) >> 12 << 12);
  *nbytes = 4096;
  return hipSuccess;
}
// 0xa… is memory of device 1, 0xb… managed, 0xd… pinned. Anything else is unknown, for which HIP 5
// returns an error.
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* found, const void* ptr) {
  constexpr bool kOld = FAKE_HIP_MAJOR <= 5;
  int type = 0;
  switch (Number(ptr) >> 12) {
    case 0xa:
      type = kOld ? 1 : 2;
      break;
    case 0xb:
      type = kOld ? 1 : 3;
      found->isManaged = 1;
      break;
    case 0xd:
      type = kOld ? 0 : 1;
      break;
    default:
      if (kOld) return hipErrorInvalidValue;
  }
  std::memcpy(found, &type, sizeof(type));  // the field has another name in HIP 6
  found->device = 1;
  return hipSuccess;
}
// HIP itself does not support these attributes yet.
hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  const uintptr_t part = Number(ptr) >> 8;
  if (attribute == HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) {
    *static_cast<void**>(data) = part == 0xa1   ? Made<void*>(0x901)
                                 : part == 0xa3 ? Made<void*>(0x9ff)
                                                : nullptr;
  } else {
    *static_cast<bool*>(data) = part == 0xa0;
  }
  return Call("hipPointerGetAttribute", static_cast<int>(attribute), ptr);
}
hipError_t hipMallocFromPoolAsync(void** ptr, size_t nbytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  *ptr = Made<void*>(0xa100);
  return Call("hipMallocFromPoolAsync", nbytes, pool, stream);
}
hipError_t hipFreeAsync(void* ptr, hipStream_t stream) { return Call("hipFreeAsync", ptr, stream); }
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  *pool = Made<hipMemPool_t>(0x900 + properties->location.id);
  return Call("hipMemPoolCreate", properties->location.id);
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep) {
  return Call("hipMemPoolTrimTo", pool, keep);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return Call("hipMemPoolSetAttribute", pool, static_cast<int>(attribute),
              *static_cast<uint64_t*>(value));
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  *static_cast<uint64_t*>(value) = attribute == hipMemPoolAttrUsedMemCurrent ? 3 : 5;
  return Call("hipMemPoolGetAttribute", pool, static_cast<int>(attribute));
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  return Call("hipMemPoolSetAccess", pool, access->location.id, static_cast<int>(access->flags),
              count);
}

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t nbytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return Call("hipMemcpyAsync", dst, src, nbytes, static_cast<int>(kind), stream);
}
hipError_t hipMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t nbytes,
                              hipStream_t stream) {
  return Call("hipMemcpyPeerAsync", dst, to, src, from, nbytes, stream);
}
hipError_t hipMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return Call("hipMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height,
              static_cast<int>(kind), stream);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count,
                            hipStream_t stream) {
  return Call("hipMemsetD8Async", dst, value, count, stream);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value, size_t count,
                             hipStream_t stream) {
  return Call("hipMemsetD16Async", dst, value, count, stream);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return Call("hipMemsetD32Async", dst, value, count, stream);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  *stream = Made<hipStream_t>(0x5000);
  return Call("hipStreamCreateWithFlags", flags);
}
hipError_t hipStreamDestroy(hipStream_t stream) { return Call("hipStreamDestroy", stream); }
hipError_t hipStreamQuery(hipStream_t stream) { return Call("hipStreamQuery", stream); }
hipError_t hipStreamSynchronize(hipStream_t stream) { return Call("hipStreamSynchronize", stream); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return Call("hipStreamWaitEvent", stream, event, flags);
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  *status = hipStreamCaptureStatusActive;
  return Call("hipStreamIsCapturing", stream);
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  const int asked = *mode;
  *mode = hipStreamCaptureModeGlobal;
  return Call("hipThreadExchangeStreamCaptureMode", asked);
}
#if FAKE_HIP_MAJOR >= 6
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  *device = 1;
  return Call("hipStreamGetDevice", stream);
}
#else
int hipGetStreamDeviceId(hipStream_t stream) {
  return Call("hipGetStreamDeviceId", stream) == hipSuccess ? 1 : -1;
}
#endif

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  *event = Made<hipEvent_t>(0xe000);
  return Call("hipEventCreateWithFlags", flags);
}
hipError_t hipEventDestroy(hipEvent_t event) { return Call("hipEventDestroy", event); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return Call("hipEventRecord", event, stream);
}
hipError_t hipEventQuery(hipEvent_t event) { return Call("hipEventQuery", event); }
hipError_t hipEventSynchronize(hipEvent_t event) { return Call("hipEventSynchronize", event); }

hipError_t hipModuleLoadData(hipModule_t* module, const void*) {
  *module = Made<hipModule_t>(0x7000);
  return Call("hipModuleLoadData");
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  *function = Made<hipFunction_t>(0x7100);
  return Call("hipModuleGetFunction", module, name);
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 hipStream_t stream, void** args, void** extra) {
  return Call("hipModuleLaunchKernel", function, gx, gy, gz, bx, by, bz, shared, stream, args,
              extra);
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* ptr) {
  std::memset(handle, 0x11, sizeof(*handle));
  return Call("hipIpcGetMemHandle", ptr);
}
// HIP 5 takes only the flag 0, HIP 6 only the flag 1.
hipError_t hipIpcOpenMemHandle(void** ptr, hipIpcMemHandle_t handle, unsigned flags) {
  if (flags != (FAKE_HIP_MAJOR >= 6)) return hipErrorInvalidValue;
  *ptr = Made<void*>(0xa200);
  return Call("hipIpcOpenMemHandle", static_cast<int>(handle.reserved[63]));
}
hipError_t hipIpcCloseMemHandle(void* ptr) { return Call("hipIpcCloseMemHandle", ptr); }
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  std::memset(handle, 0x22, sizeof(*handle));
  return Call("hipIpcGetEventHandle", event);
}
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  *event = Made<hipEvent_t>(0xe200);
  return Call("hipIpcOpenEventHandle", static_cast<int>(handle.reserved[63]));
}

}  // extern "C"
