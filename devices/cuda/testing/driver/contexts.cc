// Initialisation and contexts.

#include <pthread.h>

#include <vector>

#include "dovetail/devices/cuda/testing/driver/cuda_call.h"

namespace vendor_driver {
namespace {

bool is_initialized = false;
thread_local std::vector<CUcontext> contexts;

CUcontext Current() { return contexts.empty() ? nullptr : contexts.back(); }

}  // namespace

CUresult Cuda::Ready() { return is_initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }

CUresult Cuda::GetDevice(int* device) {
  if (Current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = DeviceOf(Current());
  return CUDA_SUCCESS;
}

extern "C" {

CUresult cuInit(unsigned flags) {
  static const bool watched = [] {
    pthread_atfork(nullptr, nullptr, [] { is_initialized = false; });
    return true;
  }();
  static bool begun = false;
  if (begun && !is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  begun = is_initialized = watched;
  return CudaCall("cuInit", flags).Do([](const RuntimeApi&) { return CUDA_SUCCESS; });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return CudaCall("cuDevicePrimaryCtxRetain", device).Do([&](const RuntimeApi& api) {
    void* previous = nullptr;
    const auto error = CodeOf<CUresult>(api.push_device(api.self, device, &previous));
    if (error != CUDA_SUCCESS) return error;
    api.pop_device(api.self, previous);
    *context = ContextOf(device);
    return CUDA_SUCCESS;
  });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  bool in_use = false;
  const CUresult error = CudaCall("cuDevicePrimaryCtxGetState", device)
                             .Ask(&RuntimeApi::device_in_use, device, &in_use);
  *flags = 0;
  *active = in_use;
  return error;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = Current();
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (!contexts.empty()) contexts.pop_back();
  contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { return Cuda::GetDevice(device); }
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return CudaCall("cuCtxPushCurrent_v2", context).Do([&](const RuntimeApi&) {
    contexts.push_back(context);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return CudaCall("cuCtxPopCurrent_v2").Do([&](const RuntimeApi&) {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *context = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return CudaCall("cuCtxSynchronize").On(&RuntimeApi::device_synchronize);
}
CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return CudaCall("cuCtxRecordEvent", context, event)
      .On(&RuntimeApi::context_record_event, static_cast<void*>(event));
}
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return CudaCall("cuCtxEnablePeerAccess", peer, flags)
      .On(&RuntimeApi::peer_enable, DeviceOf(peer));
}

}  // extern "C"

}  // namespace vendor_driver
