// A libcuda.so.1 that only logs its calls (devices/gpu/vendor/testing/fake_log.h). cuda.h declares
// the functions, so that the compiler checks their signatures.

#include <cstring>

#include "cuda.h"
#include "dovetail/devices/gpu/vendor/testing/fake_log.h"

DOVETAIL_FAKE_EXPORTS

namespace {

template <typename... Args>
CUresult Call(const char* name, const Args&... args) {
  return dovetail_fake::Fake<CUresult>(name, args...);
}

template <typename Handle>
Handle Made(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

thread_local CUcontext current = nullptr;
bool has_context[2] = {};

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) { return Call("cuInit", flags); }
CUresult cuDriverGetVersion(int* version) {
  *version = dovetail_fake::Setting("FAKE_CUDA_VERSION", 12040);
  return Call("cuDriverGetVersion");
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == CUDA_ERROR_NO_DEVICE   ? "CUDA_ERROR_NO_DEVICE"
                                            : nullptr;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = dovetail_fake::Setting("FAKE_CUDA_DEVICES", 2);
  return Call("cuDeviceGetCount");
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal > 1) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "Fake GPU", size);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice) {
  std::strncpy(id, "0000:3b:00.0", size);
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(size_t* nbytes, CUdevice) {
  *nbytes = size_t{1} << 37;
  return CUDA_SUCCESS;
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  *can = device != peer;
  return Call("cuDeviceCanAccessPeer", device, peer);
}

// Contexts are 0xc0, 0xc1, …; each thread has a current one, as in the driver.
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = Made<CUcontext>(0xc0 + device);
  has_context[device] = true;
  return Call("cuDevicePrimaryCtxRetain", device);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = has_context[device];
  return Call("cuDevicePrimaryCtxGetState", device);
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = static_cast<int>(reinterpret_cast<uintptr_t>(current) & 0xf);
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  current = context;
  return Call("cuCtxPushCurrent_v2", context);
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = current;
  current = nullptr;
  return Call("cuCtxPopCurrent_v2");
}
CUresult cuCtxSynchronize() { return Call("cuCtxSynchronize"); }
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return Call("cuCtxEnablePeerAccess", peer, flags);
}
CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return Call("cuCtxRecordEvent", context, event);
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t nbytes) {
  *address = 0xa000;
  return Call("cuMemAlloc_v2", nbytes);
}
CUresult cuMemFree_v2(CUdeviceptr address) { return Call("cuMemFree_v2", address); }
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t nbytes, unsigned flags) {
  *address = 0xb000;
  return Call("cuMemAllocManaged", nbytes, flags);
}
CUresult cuMemHostAlloc(void** address, size_t nbytes, unsigned flags) {
  *address = Made<void*>(0xd000);
  return Call("cuMemHostAlloc", nbytes, flags);
}
CUresult cuMemFreeHost(void* address) { return Call("cuMemFreeHost", address); }
CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = 10;
  *total_bytes = 20;
  return Call("cuMemGetInfo_v2");
}
// 0xa… is memory of device 1, of its pool at 0xa1… and of another one at 0xa3…; 0xb… is managed,
// 0xd… pinned; anything else is unknown.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** where,
                                CUdeviceptr address) {
  const CUdeviceptr page = address >> 12;
  if (page != 0xa && page != 0xb && page != 0xd) return CUDA_SUCCESS;
  for (unsigned i = 0; i < count; ++i) {
    switch (which[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<CUmemorytype*>(where[i]) =
            page == 0xd ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<bool*>(where[i]) = page == 0xb;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(where[i]) = 1;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(where[i]) = page << 12;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<size_t*>(where[i]) = 4096;
        break;
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
        const CUdeviceptr part = address >> 8;
        *static_cast<CUmemoryPool*>(where[i]) = part == 0xa1   ? Made<CUmemoryPool>(0x901)
                                                : part == 0xa3 ? Made<CUmemoryPool>(0x9ff)
                                                               : nullptr;
        break;
      }
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *static_cast<bool*>(where[i]) = (address >> 8) == 0xa0;
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t nbytes, CUmemoryPool pool,
                                 CUstream stream) {
  *address = 0xa100;
  return Call("cuMemAllocFromPoolAsync", nbytes, pool, stream);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return Call("cuMemFreeAsync", address, stream);
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  *pool = Made<CUmemoryPool>(0x900 + properties->location.id);
  return Call("cuMemPoolCreate", properties->location.id);
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return Call("cuMemPoolTrimTo", pool, keep);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return Call("cuMemPoolSetAttribute", pool, static_cast<int>(attribute),
              *static_cast<cuuint64_t*>(value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  *static_cast<cuuint64_t*>(value) = attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? 3 : 5;
  return Call("cuMemPoolGetAttribute", pool, static_cast<int>(attribute));
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  return Call("cuMemPoolSetAccess", pool, access->location.id, static_cast<int>(access->flags),
              count);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
  return Call("cuMemcpyAsync", dst, src, nbytes, stream);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t nbytes, CUstream stream) {
  return Call("cuMemcpyPeerAsync", dst, to, src, from, nbytes, stream);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Call("cuMemcpy2DAsync_v2", static_cast<int>(copy->dstMemoryType), copy->dstDevice,
              copy->dstHost, copy->dstPitch, static_cast<int>(copy->srcMemoryType), copy->srcDevice,
              copy->srcHost, copy->srcPitch, copy->WidthInBytes, copy->Height, stream);
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return Call("cuMemsetD8Async", dst, value, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return Call("cuMemsetD16Async", dst, value, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return Call("cuMemsetD32Async", dst, value, count, stream);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  *stream = Made<CUstream>(0x5000);
  return Call("cuStreamCreate", flags);
}
CUresult cuStreamDestroy_v2(CUstream stream) { return Call("cuStreamDestroy_v2", stream); }
CUresult cuStreamQuery(CUstream stream) { return Call("cuStreamQuery", stream); }
CUresult cuStreamSynchronize(CUstream stream) { return Call("cuStreamSynchronize", stream); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return Call("cuStreamWaitEvent", stream, event, flags);
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  *context = Made<CUcontext>(stream == Made<CUstream>(0x5001) ? 0xc1 : 0xd0);
  return Call("cuStreamGetCtx", stream);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return Call("cuStreamIsCapturing", stream);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  const int asked = *mode;
  *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return Call("cuThreadExchangeStreamCaptureMode", asked);
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  *event = Made<CUevent>(0xe000);
  return Call("cuEventCreate", flags);
}
CUresult cuEventDestroy_v2(CUevent event) { return Call("cuEventDestroy_v2", event); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Call("cuEventRecord", event, stream);
}
CUresult cuEventQuery(CUevent event) { return Call("cuEventQuery", event); }
CUresult cuEventSynchronize(CUevent event) { return Call("cuEventSynchronize", event); }

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  *module = Made<CUmodule>(0x7000);
  // A fat binary begins with this number.
  return Call("cuModuleLoadData", *static_cast<const unsigned*>(image));
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  *function = Made<CUfunction>(0x7100);
  return Call("cuModuleGetFunction", module, name);
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** args,
                        void** extra) {
  return Call("cuLaunchKernel", function, gx, gy, gz, bx, by, bz, shared, stream, args, extra);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  std::memset(handle, 0x11, sizeof(*handle));
  return Call("cuIpcGetMemHandle", address);
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  *address = 0xa200;
  return Call("cuIpcOpenMemHandle_v2", static_cast<int>(handle.reserved[63]), flags);
}
CUresult cuIpcCloseMemHandle(CUdeviceptr address) { return Call("cuIpcCloseMemHandle", address); }
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  std::memset(handle, 0x22, sizeof(*handle));
  return Call("cuIpcGetEventHandle", event);
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  *event = Made<CUevent>(0xe200);
  return Call("cuIpcOpenEventHandle", static_cast<int>(handle.reserved[63]));
}

}  // extern "C"
