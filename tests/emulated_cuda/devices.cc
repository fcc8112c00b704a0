// Initialisation, errors, devices, contexts and access between devices.

#include <dlfcn.h>
#include <pthread.h>

#include <cstring>
#include <string>

#include "tests/emulated_cuda/forward.h"

namespace emulated_cuda {

Emulator& Gpu() {
  static Emulator* const gpu = new Emulator;
  return *gpu;
}

bool& IsInitialized() {
  static bool initialized = false;
  return initialized;
}

std::vector<CUcontext>& Contexts() {
  thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUresult ResultOf(dovetail::gpu::Result result) {
  using dovetail::gpu::ResultClass;
  switch (Gpu().api().classify(Gpu().api().self, result)) {
    case ResultClass::kOk:
      return CUDA_SUCCESS;
    case ResultClass::kNotReady:
      return CUDA_ERROR_NOT_READY;
    case ResultClass::kOutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case ResultClass::kInvalidValue:
      return CUDA_ERROR_INVALID_VALUE;
    case ResultClass::kInvalidHandle:
      return CUDA_ERROR_INVALID_HANDLE;
    case ResultClass::kNotSupported:
      return CUDA_ERROR_NOT_SUPPORTED;
    case ResultClass::kNoDevice:
      return CUDA_ERROR_INVALID_DEVICE;
    case ResultClass::kCaptureViolation:
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    case ResultClass::kPeerAlreadyEnabled:
      return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    case ResultClass::kShuttingDown:
      return CUDA_ERROR_DEINITIALIZED;
    case ResultClass::kOther:
      break;
  }
  return CUDA_ERROR_UNKNOWN;
}

}  // namespace emulated_cuda

using dovetail::gpu::DeviceInfo;
using dovetail::gpu::RuntimeApi;
using emulated_cuda::ContextOf;
using emulated_cuda::Contexts;
using emulated_cuda::DeviceOf;
using emulated_cuda::Forward;
using emulated_cuda::Gpu;
using emulated_cuda::IsInitialized;
using emulated_cuda::ResultOf;

namespace {

CUresult InfoOf(CUdevice device, DeviceInfo* info) {
  if (!IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return ResultOf(Gpu().api().device_info(Gpu().api().self, device, info));
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  static const bool watched = [] {
    pthread_atfork(nullptr, nullptr, [] { IsInitialized() = false; });
    return true;
  }();
  static bool begun = false;
  if (begun && !IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  begun = IsInitialized() = watched;
  return CUDA_SUCCESS;
}
// What programs look up by name, which is without a version, are the functions of this library.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  static void* const self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(self, (std::string(symbol) + "_v2").c_str());
  if (*function == nullptr) *function = dlsym(self, symbol);
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_NOT_INITIALIZED ? "CUDA_ERROR_NOT_INITIALIZED" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the emulated driver";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (!IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return ResultOf(Gpu().api().device_count(Gpu().api().self, count));
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  DeviceInfo info;
  *device = ordinal;
  return InfoOf(ordinal, &info);
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  DeviceInfo info;
  const CUresult result = InfoOf(device, &info);
  if (result == CUDA_SUCCESS) std::strncpy(name, info.name, size);
  return result;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  DeviceInfo info;
  const CUresult result = InfoOf(device, &info);
  if (result == CUDA_SUCCESS) std::strncpy(id, info.pci_bus_id, size);
  return result;
}
CUresult cuDeviceTotalMem_v2(size_t* nbytes, CUdevice device) {
  DeviceInfo info;
  const CUresult result = InfoOf(device, &info);
  if (result == CUDA_SUCCESS) *nbytes = info.total_bytes;
  return result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const RuntimeApi& api = Gpu().api();
  void* previous;
  if (const auto r = api.push_device(api.self, device, &previous); r != 0) return ResultOf(r);
  api.pop_device(api.self, previous);
  *context = ContextOf(device);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!IsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  *flags = 0;
  *active = Gpu().HasContext(device) ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = Contexts().empty() ? nullptr : Contexts().back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (!Contexts().empty()) Contexts().pop_back();
  Contexts().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (Contexts().empty() || Contexts().back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = DeviceOf(Contexts().back());
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  Contexts().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (Contexts().empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = Contexts().back();
  Contexts().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return Forward(&RuntimeApi::device_synchronize); }

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  bool answer = false;
  const auto& api = Gpu().api();
  const CUresult result = ResultOf(api.peer_can_access(api.self, device, peer, &answer));
  *can = answer ? 1 : 0;
  return result;
}
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
  return Forward(&RuntimeApi::peer_enable, DeviceOf(peer));
}

}  // extern "C"
