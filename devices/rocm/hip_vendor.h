// HipVendor: HIP's functions, types and enumerators, by the names that the shared parts of
// the GPU vendors use (devices/gpu/vendor). Internal to devices/rocm.

#ifndef DOVETAIL_DEVICES_ROCM_HIP_VENDOR_H_
#define DOVETAIL_DEVICES_ROCM_HIP_VENDOR_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/rocm/hip_types.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class HipLibrary;  // library.h

// The library's functions; nullptr for those that it lacks.
struct HipSymbols {
#define DOVETAIL_HIP_SYMBOL(name, need, result, parameters) result(*name) parameters;
#define DOVETAIL_HIP_NEW_SYMBOL DOVETAIL_HIP_SYMBOL
#include "dovetail/devices/rocm/symbols.inc"
#undef DOVETAIL_HIP_NEW_SYMBOL
#undef DOVETAIL_HIP_SYMBOL
};

struct HipVendor {
  using Library = HipLibrary;
  using Symbols = HipSymbols;
  // HIP keeps the thread's last error for the next hipGetLastError. Ours are not for others to
  // find.
  static Result Checked(const HipSymbols& symbols, hipError_t code) {
    if (code != kCodeSuccess) static_cast<void>(symbols.hipGetLastError());
    return code;
  }

  DOVETAIL_NOT_SHARED static constexpr const char* kLibraries[] = {
      "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
  DOVETAIL_NOT_SHARED static constexpr char kVariable[] = "DOVETAIL_ROCM_LIBRARY";
  DOVETAIL_NOT_SHARED static constexpr char kLibrary[] = "ROCm runtime";
  DOVETAIL_NOT_SHARED static constexpr char kPlatform[] = "HIP";

  // ---- Devices ----
  using Device = hipDevice_t;
  static constexpr auto kDeviceGet = &HipSymbols::hipDeviceGet;
  static constexpr auto kDeviceGetName = &HipSymbols::hipDeviceGetName;
  static constexpr auto kDeviceGetPciId = &HipSymbols::hipDeviceGetPCIBusId;
  static constexpr auto kDeviceTotalMemory = &HipSymbols::hipDeviceTotalMem;
  static constexpr auto kDeviceGetAttribute = &HipSymbols::hipDeviceGetAttribute;
  static constexpr auto kDeviceCanAccessPeer = &HipSymbols::hipDeviceCanAccessPeer;
  static constexpr auto kDeviceSynchronize = &HipSymbols::hipDeviceSynchronize;
  static constexpr auto kAttributeMultiprocessors = hipDeviceAttributeMultiprocessorCount;
  static constexpr auto kAttributePoolsSupported = hipDeviceAttributeMemoryPoolsSupported;
  static constexpr auto kAttributeManaged = hipDeviceAttributeManagedMemory;
  static constexpr auto kAttributeConcurrentManaged = hipDeviceAttributeConcurrentManagedAccess;
  static constexpr auto kAttributeMapsPinned = hipDeviceAttributeCanMapHostMemory;
  static void SetArchitecture(HipLibrary& hip, int device, DeviceInfo* info);

  // ---- Memory ----
  using Address = hipDeviceptr_t;
  static constexpr auto kMalloc = &HipSymbols::hipMalloc;
  static constexpr auto kFree = &HipSymbols::hipFree;
  static constexpr auto kMemoryInfo = &HipSymbols::hipMemGetInfo;
  static constexpr auto kMallocHost = &HipSymbols::hipHostMalloc;
  static constexpr auto kFreeHost = &HipSymbols::hipHostFree;
  static constexpr unsigned kHostFlags = hipHostMallocPortable | hipHostMallocMapped;
  static constexpr auto kMallocManaged = &HipSymbols::hipMallocManaged;
  static constexpr unsigned kManagedFlags = hipMemAttachGlobal;
  static constexpr auto kFill8 = &HipSymbols::hipMemsetD8Async;
  static constexpr auto kFill16 = &HipSymbols::hipMemsetD16Async;
  static constexpr auto kFill32 = &HipSymbols::hipMemsetD32Async;

  // HIP 5 to 7 answer that they do not support these attributes.
  static constexpr auto kPointerPool = HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
  static constexpr auto kPointerIsPlain = HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE;
  static Result GetPointerAttribute(const HipLibrary& hip, void* value, int attribute,
                                    const void* ptr);

  // ---- Pools ----
  using Pool = hipMemPool_t;
  using PoolProperties = hipMemPoolProps;
  using PoolAccess = hipMemAccessDesc;
  static constexpr auto kPoolMalloc = &HipSymbols::hipMallocFromPoolAsync;
  static constexpr auto kPoolFree = &HipSymbols::hipFreeAsync;
  static constexpr auto kPoolCreate = &HipSymbols::hipMemPoolCreate;
  static constexpr auto kPoolTrim = &HipSymbols::hipMemPoolTrimTo;
  static constexpr auto kPoolSetAttribute = &HipSymbols::hipMemPoolSetAttribute;
  static constexpr auto kPoolGetAttribute = &HipSymbols::hipMemPoolGetAttribute;
  static constexpr auto kPoolSetAccess = &HipSymbols::hipMemPoolSetAccess;
  static constexpr auto kPoolPinned = hipMemAllocationTypePinned;
  static constexpr auto kPoolNoHandle = hipMemHandleTypeNone;
  static constexpr auto kPoolOnDevice = hipMemLocationTypeDevice;
  static constexpr auto kPoolReadWrite = hipMemAccessFlagsProtReadWrite;
  static constexpr auto kPoolReleaseThreshold = hipMemPoolAttrReleaseThreshold;
  static constexpr auto kPoolUsedBytes = hipMemPoolAttrUsedMemCurrent;
  static constexpr auto kPoolReservedBytes = hipMemPoolAttrReservedMemCurrent;

  // ---- Streams ----
  using Stream = hipStream_t;
  using CaptureState = hipStreamCaptureStatus;
  using CaptureMode = hipStreamCaptureMode;
  static constexpr auto kStreamCreate = &HipSymbols::hipStreamCreateWithFlags;
  static constexpr unsigned kStreamNonBlocking = hipStreamNonBlocking;
  static constexpr auto kStreamDestroy = &HipSymbols::hipStreamDestroy;
  static constexpr auto kStreamQuery = &HipSymbols::hipStreamQuery;
  static constexpr auto kStreamSynchronize = &HipSymbols::hipStreamSynchronize;
  static constexpr auto kStreamWaitEvent = &HipSymbols::hipStreamWaitEvent;
  static constexpr auto kStreamIsCapturing = &HipSymbols::hipStreamIsCapturing;
  static constexpr auto kCaptureNone = hipStreamCaptureStatusNone;
  static constexpr auto kCaptureActive = hipStreamCaptureStatusActive;
  static constexpr auto kExchangeCaptureMode = &HipSymbols::hipThreadExchangeStreamCaptureMode;
  static constexpr int kCaptureGlobal = hipStreamCaptureModeGlobal;
  static constexpr int kCaptureThreadLocal = hipStreamCaptureModeThreadLocal;
  static constexpr int kCaptureRelaxed = hipStreamCaptureModeRelaxed;

  // ---- Events ----
  using Event = hipEvent_t;
  static constexpr auto kEventCreate = &HipSymbols::hipEventCreateWithFlags;
  static constexpr unsigned kEventDisableTiming = hipEventDisableTiming;
  static constexpr unsigned kEventInterprocessFlag = hipEventInterprocess;
  static constexpr auto kEventDestroy = &HipSymbols::hipEventDestroy;
  static constexpr auto kEventRecord = &HipSymbols::hipEventRecord;
  static constexpr auto kEventQuery = &HipSymbols::hipEventQuery;
  static constexpr auto kEventSynchronize = &HipSymbols::hipEventSynchronize;

  // ---- Kernels ----
  using Module = hipModule_t;
  using Function = hipFunction_t;
  static constexpr auto kModuleLoad = &HipSymbols::hipModuleLoadData;
  static constexpr auto kModuleGetFunction = &HipSymbols::hipModuleGetFunction;
  static constexpr auto kLaunch = &HipSymbols::hipModuleLaunchKernel;

  // ---- Other processes ----
  using IpcMemory = hipIpcMemHandle_t;
  using IpcEvent = hipIpcEventHandle_t;
  static constexpr auto kIpcGetMemory = &HipSymbols::hipIpcGetMemHandle;
  static constexpr auto kIpcCloseMemory = &HipSymbols::hipIpcCloseMemHandle;
  static constexpr auto kIpcGetEvent = &HipSymbols::hipIpcGetEventHandle;
  static constexpr auto kIpcOpenEvent = &HipSymbols::hipIpcOpenEventHandle;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_HIP_VENDOR_H_
