// Streams, events and kernels.

#include "tests/emulated_cuda/forward.h"

using dovetail::NativeStream;
using dovetail::gpu::CaptureMode;
using dovetail::gpu::CaptureStatus;
using dovetail::gpu::IpcHandle;
using dovetail::gpu::KernelImage;
using dovetail::gpu::kEventInterprocess;
using dovetail::gpu::kEventPlain;
using dovetail::gpu::RuntimeApi;
using emulated_cuda::ContextOf;
using emulated_cuda::Forward;
using emulated_cuda::Gpu;
using emulated_cuda::StreamOf;
using emulated_cuda::WithDevice;

namespace {

void* Handle(CUevent event) { return event; }

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return WithDevice([&](int device) {
    const NativeStream made = Gpu().MakeStream(device, (flags & CU_STREAM_NON_BLOCKING) == 0);
    *stream = reinterpret_cast<CUstream>(static_cast<uintptr_t>(made));
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return Forward(&RuntimeApi::stream_destroy, StreamOf(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return Forward(&RuntimeApi::stream_query, StreamOf(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return Forward(&RuntimeApi::stream_synchronize, StreamOf(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return Forward(&RuntimeApi::stream_wait_event, StreamOf(stream), Handle(event));
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_NOT_SUPPORTED;
  return WithDevice([&](int device) {
    const auto* word = static_cast<const uint32_t*>(emulated_cuda::PointerOf(address));
    Gpu().Hold(StreamOf(stream), device, word, value);
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  int device = 0;
  const CUresult result = Forward(&RuntimeApi::stream_device, StreamOf(stream), &device);
  if (result == CUDA_SUCCESS) *context = ContextOf(device);
  return result;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  CaptureStatus found = CaptureStatus::kNone;
  const CUresult result = Forward(&RuntimeApi::stream_capture_status, StreamOf(stream), &found);
  *status = found == CaptureStatus::kNone     ? CU_STREAM_CAPTURE_STATUS_NONE
            : found == CaptureStatus::kActive ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                              : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return result;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  auto exchanged = static_cast<CaptureMode>(*mode);
  const auto& api = Gpu().api();
  api.exchange_capture_mode(api.self, &exchanged);
  *mode = static_cast<CUstreamCaptureMode>(exchanged);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  void* made = nullptr;
  const unsigned ours = (flags & CU_EVENT_INTERPROCESS) != 0 ? kEventInterprocess : kEventPlain;
  const CUresult result = Forward(&RuntimeApi::event_create, ours, &made);
  if (result == CUDA_SUCCESS) *event = static_cast<CUevent>(made);
  return result;
}
CUresult cuEventDestroy_v2(CUevent event) {
  return Forward(&RuntimeApi::event_destroy, Handle(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return Forward(&RuntimeApi::event_record, Handle(event), StreamOf(stream));
}
CUresult cuEventQuery(CUevent event) { return Forward(&RuntimeApi::event_query, Handle(event)); }
CUresult cuEventSynchronize(CUevent event) {
  return Forward(&RuntimeApi::event_synchronize, Handle(event));
}
CUresult cuCtxRecordEvent(CUcontext, CUevent event) {
  return Forward(&RuntimeApi::context_record_event, Handle(event));
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return Forward(&RuntimeApi::ipc_event_handle, Handle(event),
                 reinterpret_cast<IpcHandle*>(handle));
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  void* opened = nullptr;
  const CUresult result =
      Forward(&RuntimeApi::ipc_open_event, reinterpret_cast<const IpcHandle*>(&handle), &opened);
  if (result == CUDA_SUCCESS) *event = static_cast<CUevent>(opened);
  return result;
}

// The image is for NVIDIA's chips. The emulator's own kernels are loaded instead.
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  const auto& api = Gpu().api();
  const KernelImage image = api.kernel_image(api.self, 0);
  void* loaded = nullptr;
  const CUresult result = Forward(&RuntimeApi::module_load, &image, &loaded);
  if (result == CUDA_SUCCESS) *module = static_cast<CUmodule>(loaded);
  return result;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  void* found = nullptr;
  const CUresult result =
      Forward(&RuntimeApi::module_function, static_cast<void*>(module), name, &found);
  if (result == CUDA_SUCCESS) *function = static_cast<CUfunction>(found);
  return result;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** args,
                        void**) {
  const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return Forward(&RuntimeApi::launch, static_cast<void*>(function),
                 static_cast<const uint32_t*>(grid), static_cast<const uint32_t*>(block),
                 uint32_t{shared}, StreamOf(stream), args);
}

}  // extern "C"
