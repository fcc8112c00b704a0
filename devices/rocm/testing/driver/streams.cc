// Streams, events and kernels.

#include <cstdint>
#include <utility>

#include "dovetail/devices/rocm/testing/driver/hip_call.h"

namespace vendor_driver {
namespace {

void* Handle(hipEvent_t event) { return event; }

}  // namespace

extern "C" {

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return MakeStream(HipCall("hipStreamCreateWithFlags", flags), stream, flags);
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return HipCall("hipStreamDestroy", stream).On(&RuntimeApi::stream_destroy, HipStreamOf(stream));
}
hipError_t hipStreamQuery(hipStream_t stream) {
  return HipCall("hipStreamQuery", stream).On(&RuntimeApi::stream_query, HipStreamOf(stream));
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return HipCall("hipStreamSynchronize", stream)
      .On(&RuntimeApi::stream_synchronize, HipStreamOf(stream));
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return HipCall("hipStreamWaitEvent", stream, event, flags)
      .On(&RuntimeApi::stream_wait_event, HipStreamOf(stream), Handle(event));
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return GetCaptureStatus(HipCall("hipStreamIsCapturing", stream), HipStreamOf(stream), status);
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return ExchangeCaptureMode(HipCall("hipThreadExchangeStreamCaptureMode", static_cast<int>(*mode)),
                             mode);
}
// Not in the oldest headers.
#if HIP_MAJOR >= 6
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return HipCall("hipStreamGetDevice", stream)
      .Ask(&RuntimeApi::stream_device, HipStreamOf(stream), device);
}
#else
int hipGetStreamDeviceId(hipStream_t stream) {
  int device = 0;
  const hipError_t error = HipCall("hipGetStreamDeviceId", stream)
                               .Ask(&RuntimeApi::stream_device, HipStreamOf(stream), &device);
  return error == hipSuccess ? device : -1;
}
#endif

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return MakeEvent(HipCall("hipEventCreateWithFlags", flags), event, flags);
}
hipError_t hipEventDestroy(hipEvent_t event) {
  return HipCall("hipEventDestroy", event).On(&RuntimeApi::event_destroy, Handle(event));
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return HipCall("hipEventRecord", event, stream)
      .On(&RuntimeApi::event_record, Handle(event), HipStreamOf(stream));
}
hipError_t hipEventQuery(hipEvent_t event) {
  return HipCall("hipEventQuery", event).On(&RuntimeApi::event_query, Handle(event));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return HipCall("hipEventSynchronize", event).On(&RuntimeApi::event_synchronize, Handle(event));
}
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return HipCall("hipIpcGetEventHandle", event)
      .On(&RuntimeApi::ipc_event_handle, Handle(event), OurHandle(handle));
}
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return HipCall("hipIpcOpenEventHandle", int{handle.reserved[63]})
      .Make(event, &RuntimeApi::ipc_open_event, OurHandle(&std::as_const(handle)));
}

hipError_t hipModuleLoadData(hipModule_t* module, const void*) {
  return LoadModule(HipCall("hipModuleLoadData"), module);
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return HipCall("hipModuleGetFunction", module, name)
      .Make(function, &RuntimeApi::module_function, static_cast<void*>(module), name);
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 hipStream_t stream, void** args, void** extra) {
  // HIP counts the threads of each dimension in 32 bits.
  if (uint64_t{gx} * bx > UINT32_MAX || uint64_t{gy} * by > UINT32_MAX ||
      uint64_t{gz} * bz > UINT32_MAX) {
    return Hip::Returned(hipErrorInvalidConfiguration);
  }
  const HipCall call("hipModuleLaunchKernel", function, gx, gy, gz, bx, by, bz, shared, stream,
                     args, extra);
  return Launch(call, function, {gx, gy, gz}, {bx, by, bz}, shared, HipStreamOf(stream), args);
}

}  // extern "C"

}  // namespace vendor_driver
