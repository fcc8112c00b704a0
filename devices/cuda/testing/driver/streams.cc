// Streams, events and kernels.

#include <utility>

#include "dovetail/devices/cuda/testing/driver/cuda_call.h"

namespace vendor_driver {
namespace {

void* Handle(CUevent event) { return event; }

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return MakeStream(CudaCall("cuStreamCreate", flags), stream, flags);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return CudaCall("cuStreamDestroy_v2", stream).On(&RuntimeApi::stream_destroy, StreamOf(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return CudaCall("cuStreamQuery", stream).On(&RuntimeApi::stream_query, StreamOf(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return CudaCall("cuStreamSynchronize", stream)
      .On(&RuntimeApi::stream_synchronize, StreamOf(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return CudaCall("cuStreamWaitEvent", stream, event, flags)
      .On(&RuntimeApi::stream_wait_event, StreamOf(stream), Handle(event));
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  int device = 0;
  const CUresult error =
      CudaCall("cuStreamGetCtx", stream).Ask(&RuntimeApi::stream_device, StreamOf(stream), &device);
  if (error == CUDA_SUCCESS) *context = ContextOf(device);
  return error;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return GetCaptureStatus(CudaCall("cuStreamIsCapturing", stream), StreamOf(stream), status);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return ExchangeCaptureMode(CudaCall("cuThreadExchangeStreamCaptureMode", static_cast<int>(*mode)),
                             mode);
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return MakeEvent(CudaCall("cuEventCreate", flags), event, flags);
}
CUresult cuEventDestroy_v2(CUevent event) {
  return CudaCall("cuEventDestroy_v2", event).On(&RuntimeApi::event_destroy, Handle(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return CudaCall("cuEventRecord", event, stream)
      .On(&RuntimeApi::event_record, Handle(event), StreamOf(stream));
}
CUresult cuEventQuery(CUevent event) {
  return CudaCall("cuEventQuery", event).On(&RuntimeApi::event_query, Handle(event));
}
CUresult cuEventSynchronize(CUevent event) {
  return CudaCall("cuEventSynchronize", event).On(&RuntimeApi::event_synchronize, Handle(event));
}
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return CudaCall("cuIpcGetEventHandle", event)
      .On(&RuntimeApi::ipc_event_handle, Handle(event), OurHandle(handle));
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return CudaCall("cuIpcOpenEventHandle", int{handle.reserved[63]})
      .Make(event, &RuntimeApi::ipc_open_event, OurHandle(&std::as_const(handle)));
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  // A fat binary begins with this number.
  return LoadModule(CudaCall("cuModuleLoadData", *static_cast<const unsigned*>(image)), module);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return CudaCall("cuModuleGetFunction", module, name)
      .Make(function, &RuntimeApi::module_function, static_cast<void*>(module), name);
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void** args,
                        void** extra) {
  const CudaCall call("cuLaunchKernel", function, gx, gy, gz, bx, by, bz, shared, stream, args,
                      extra);
  return Launch(call, function, {gx, gy, gz}, {bx, by, bz}, shared, StreamOf(stream), args);
}

}  // extern "C"

}  // namespace vendor_driver
