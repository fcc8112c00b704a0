// CudaVendor: the driver's functions, types and enumerators, by the names that the shared parts of
// the GPU vendors use (devices/gpu/vendor). Internal to devices/cuda.

#ifndef DOVETAIL_DEVICES_CUDA_CUDA_VENDOR_H_
#define DOVETAIL_DEVICES_CUDA_CUDA_VENDOR_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/cuda/driver_types.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class CudaDriver;  // driver.h

// The driver's functions; nullptr for those that it lacks.
struct CudaSymbols {
#define DOVETAIL_CUDA_SYMBOL(name, need, parameters) CUresult(*name) parameters;
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
};

struct CudaVendor {
  using Library = CudaDriver;
  using Symbols = CudaSymbols;
  static Result Checked(const CudaSymbols&, CUresult code) { return code; }

  DOVETAIL_NOT_SHARED static constexpr const char* kLibraries[] = {"libcuda.so.1"};
  DOVETAIL_NOT_SHARED static constexpr char kVariable[] = "DOVETAIL_CUDA_LIBRARY";
  DOVETAIL_NOT_SHARED static constexpr char kLibrary[] = "NVIDIA driver";
  DOVETAIL_NOT_SHARED static constexpr char kPlatform[] = "CUDA";

  // ---- Devices ----
  using Device = CUdevice;
  static constexpr auto kDeviceGet = &CudaSymbols::cuDeviceGet;
  static constexpr auto kDeviceGetName = &CudaSymbols::cuDeviceGetName;
  static constexpr auto kDeviceGetPciId = &CudaSymbols::cuDeviceGetPCIBusId;
  static constexpr auto kDeviceTotalMemory = &CudaSymbols::cuDeviceTotalMem_v2;
  static constexpr auto kDeviceGetAttribute = &CudaSymbols::cuDeviceGetAttribute;
  static constexpr auto kDeviceCanAccessPeer = &CudaSymbols::cuDeviceCanAccessPeer;
  static constexpr auto kDeviceSynchronize = &CudaSymbols::cuCtxSynchronize;
  static constexpr auto kAttributeMultiprocessors = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
  static constexpr auto kAttributePoolsSupported = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
  static constexpr auto kAttributeManaged = CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
  static constexpr auto kAttributeConcurrentManaged = CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
  static constexpr auto kAttributeMapsPinned = CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING;
  static void SetArchitecture(CudaDriver& driver, int device, DeviceInfo* info);

  // ---- Memory ----
  using Address = CUdeviceptr;
  static constexpr auto kMalloc = &CudaSymbols::cuMemAlloc_v2;
  static constexpr auto kFree = &CudaSymbols::cuMemFree_v2;
  static constexpr auto kMemoryInfo = &CudaSymbols::cuMemGetInfo_v2;
  static constexpr auto kMallocHost = &CudaSymbols::cuMemHostAlloc;
  static constexpr auto kFreeHost = &CudaSymbols::cuMemFreeHost;
  static constexpr unsigned kHostFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
  static constexpr auto kMallocManaged = &CudaSymbols::cuMemAllocManaged;
  static constexpr unsigned kManagedFlags = CU_MEM_ATTACH_GLOBAL;
  static constexpr auto kFill8 = &CudaSymbols::cuMemsetD8Async;
  static constexpr auto kFill16 = &CudaSymbols::cuMemsetD16Async;
  static constexpr auto kFill32 = &CudaSymbols::cuMemsetD32Async;

  static constexpr auto kPointerPool = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;  // 11.3
  static constexpr auto kPointerIsPlain = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
  static Result GetPointerAttribute(const CudaDriver& driver, void* value, int attribute,
                                    const void* ptr);

  // ---- Pools ----
  using Pool = CUmemoryPool;
  using PoolProperties = CUmemPoolProps;
  using PoolAccess = CUmemAccessDesc;
  static constexpr auto kPoolMalloc = &CudaSymbols::cuMemAllocFromPoolAsync;
  static constexpr auto kPoolFree = &CudaSymbols::cuMemFreeAsync;
  static constexpr auto kPoolCreate = &CudaSymbols::cuMemPoolCreate;
  static constexpr auto kPoolTrim = &CudaSymbols::cuMemPoolTrimTo;
  static constexpr auto kPoolSetAttribute = &CudaSymbols::cuMemPoolSetAttribute;
  static constexpr auto kPoolGetAttribute = &CudaSymbols::cuMemPoolGetAttribute;
  static constexpr auto kPoolSetAccess = &CudaSymbols::cuMemPoolSetAccess;
  static constexpr auto kPoolPinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  static constexpr auto kPoolNoHandle = CU_MEM_HANDLE_TYPE_NONE;
  static constexpr auto kPoolOnDevice = CU_MEM_LOCATION_TYPE_DEVICE;
  static constexpr auto kPoolReadWrite = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  static constexpr auto kPoolReleaseThreshold = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
  static constexpr auto kPoolUsedBytes = CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
  static constexpr auto kPoolReservedBytes = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;

  // ---- Streams ----
  using Stream = CUstream;
  using CaptureState = CUstreamCaptureStatus;
  using CaptureMode = CUstreamCaptureMode;
  static constexpr auto kStreamCreate = &CudaSymbols::cuStreamCreate;
  static constexpr unsigned kStreamNonBlocking = CU_STREAM_NON_BLOCKING;
  static constexpr auto kStreamDestroy = &CudaSymbols::cuStreamDestroy_v2;
  static constexpr auto kStreamQuery = &CudaSymbols::cuStreamQuery;
  static constexpr auto kStreamSynchronize = &CudaSymbols::cuStreamSynchronize;
  static constexpr auto kStreamWaitEvent = &CudaSymbols::cuStreamWaitEvent;
  static constexpr auto kStreamIsCapturing = &CudaSymbols::cuStreamIsCapturing;
  static constexpr auto kCaptureNone = CU_STREAM_CAPTURE_STATUS_NONE;
  static constexpr auto kCaptureActive = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  static constexpr auto kExchangeCaptureMode = &CudaSymbols::cuThreadExchangeStreamCaptureMode;
  static constexpr int kCaptureGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
  static constexpr int kCaptureThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  static constexpr int kCaptureRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

  // ---- Events ----
  using Event = CUevent;
  static constexpr auto kEventCreate = &CudaSymbols::cuEventCreate;
  static constexpr unsigned kEventDisableTiming = CU_EVENT_DISABLE_TIMING;
  static constexpr unsigned kEventInterprocessFlag = CU_EVENT_INTERPROCESS;
  static constexpr auto kEventDestroy = &CudaSymbols::cuEventDestroy_v2;
  static constexpr auto kEventRecord = &CudaSymbols::cuEventRecord;
  static constexpr auto kEventQuery = &CudaSymbols::cuEventQuery;
  static constexpr auto kEventSynchronize = &CudaSymbols::cuEventSynchronize;

  // ---- Kernels ----
  using Module = CUmodule;
  using Function = CUfunction;
  static constexpr auto kModuleLoad = &CudaSymbols::cuModuleLoadData;
  static constexpr auto kModuleGetFunction = &CudaSymbols::cuModuleGetFunction;
  static constexpr auto kLaunch = &CudaSymbols::cuLaunchKernel;

  // ---- Other processes ----
  using IpcMemory = CUipcMemHandle;
  using IpcEvent = CUipcEventHandle;
  static constexpr auto kIpcGetMemory = &CudaSymbols::cuIpcGetMemHandle;
  static constexpr auto kIpcCloseMemory = &CudaSymbols::cuIpcCloseMemHandle;
  static constexpr auto kIpcGetEvent = &CudaSymbols::cuIpcGetEventHandle;
  static constexpr auto kIpcOpenEvent = &CudaSymbols::cuIpcOpenEventHandle;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CUDA_CUDA_VENDOR_H_
