// What goes in the order of streams: copies, fills, the streams themselves, and events.

#include "dovetail/devices/rocm/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ---- Copies and fills ----

Result Copy(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  return Call(self, &HipSymbols::hipMemcpyAsync, dst, src, nbytes, hipMemcpyDefault,
              AsStream(stream));
}

Result CopyPeer(void* self, void* dst, int dst_device, const void* src, int src_device,
                size_t nbytes, NativeStream stream) {
  return Call(self, &HipSymbols::hipMemcpyPeerAsync, dst, dst_device, src, src_device, nbytes,
              AsStream(stream));
}

Result Copy2d(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
              size_t width, size_t height, NativeStream stream) {
  return Call(self, &HipSymbols::hipMemcpy2DAsync, dst, dst_pitch, src, src_pitch, width, height,
              hipMemcpyDefault, AsStream(stream));
}

Result Fill(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
            NativeStream stream) {
  switch (element_size) {
    case 1:
      return Call(self, &HipSymbols::hipMemsetD8Async, AsAddress(dst),
                  static_cast<unsigned char>(pattern), count, AsStream(stream));
    case 2:
      return Call(self, &HipSymbols::hipMemsetD16Async, AsAddress(dst),
                  static_cast<unsigned short>(pattern), count, AsStream(stream));
    case 4:
      return Call(self, &HipSymbols::hipMemsetD32Async, AsAddress(dst), static_cast<int>(pattern),
                  count, AsStream(stream));
    default:
      return hipErrorInvalidValue;
  }
}

// ---- Streams ----

Result StreamCreate(void* self, NativeStream* stream) {
  hipStream_t made;
  const Result result =
      Call(self, &HipSymbols::hipStreamCreateWithFlags, &made, unsigned{hipStreamNonBlocking});
  if (result == hipSuccess) *stream = NativeStream{reinterpret_cast<uintptr_t>(made)};
  return result;
}

Result StreamDestroy(void* self, NativeStream stream) {
  return Call(self, &HipSymbols::hipStreamDestroy, AsStream(stream));
}

Result StreamQuery(void* self, NativeStream stream) {
  return Call(self, &HipSymbols::hipStreamQuery, AsStream(stream));
}

Result StreamSynchronize(void* self, NativeStream stream) {
  return Call(self, &HipSymbols::hipStreamSynchronize, AsStream(stream));
}

Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent event) {
  return Call(self, &HipSymbols::hipStreamWaitEvent, AsStream(stream), AsEvent(event), 0u);
}

Result StreamCaptureStatus(void* self, NativeStream stream, CaptureStatus* status) {
  hipStreamCaptureStatus found;
  const Result result = Call(self, &HipSymbols::hipStreamIsCapturing, AsStream(stream), &found);
  if (result != hipSuccess) return result;
  *status = found == hipStreamCaptureStatusNone     ? CaptureStatus::kNone
            : found == hipStreamCaptureStatusActive ? CaptureStatus::kActive
                                                    : CaptureStatus::kInvalidated;
  return result;
}

// The newer function where there is one; the older answers with a device or a negative number.
Result StreamDevice(void* self, NativeStream stream, int* device) {
  const HipSymbols& hip = SymbolsOf(self);
  if (hip.hipStreamGetDevice != nullptr) {
    hipDevice_t found;
    const Result result = Call(self, &HipSymbols::hipStreamGetDevice, AsStream(stream), &found);
    if (result == hipSuccess) *device = found;
    return result;
  }
  if (hip.hipGetStreamDeviceId == nullptr) return hipErrorNotSupported;
  const int found = hip.hipGetStreamDeviceId(AsStream(stream));
  if (found < 0) return HipOf(self).Checked(hipErrorInvalidHandle);
  *device = found;
  return hipSuccess;
}

static_assert(static_cast<int>(CaptureMode::kGlobal) == hipStreamCaptureModeGlobal);
static_assert(static_cast<int>(CaptureMode::kThreadLocal) == hipStreamCaptureModeThreadLocal);
static_assert(static_cast<int>(CaptureMode::kRelaxed) == hipStreamCaptureModeRelaxed);

Result ExchangeCaptureMode(void* self, CaptureMode* mode) {
  if (SymbolsOf(self).hipThreadExchangeStreamCaptureMode == nullptr) return hipErrorNotSupported;
  auto exchanged = static_cast<hipStreamCaptureMode>(*mode);
  const Result result = Call(self, &HipSymbols::hipThreadExchangeStreamCaptureMode, &exchanged);
  if (result == hipSuccess) *mode = static_cast<CaptureMode>(exchanged);
  return result;
}

// ---- Events ----

Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
  hipEvent_t made;
  const unsigned sharing = (flags & kEventInterprocess) != 0 ? hipEventInterprocess : 0;
  const Result result =
      Call(self, &HipSymbols::hipEventCreateWithFlags, &made, hipEventDisableTiming | sharing);
  if (result == hipSuccess) *event = made;
  return result;
}

Result EventDestroy(void* self, NativeEvent event) {
  return Call(self, &HipSymbols::hipEventDestroy, AsEvent(event));
}

Result EventRecord(void* self, NativeEvent event, NativeStream stream) {
  return Call(self, &HipSymbols::hipEventRecord, AsEvent(event), AsStream(stream));
}

Result EventQuery(void* self, NativeEvent event) {
  return Call(self, &HipSymbols::hipEventQuery, AsEvent(event));
}

Result EventSynchronize(void* self, NativeEvent event) {
  return Call(self, &HipSymbols::hipEventSynchronize, AsEvent(event));
}

Result DeviceSynchronize(void* self) { return Call(self, &HipSymbols::hipDeviceSynchronize); }

}  // namespace

void FillHipStreams(RuntimeApi& api) {
  api.copy_async = Copy;
  api.copy_peer_async = CopyPeer;
  api.copy_2d_async = Copy2d;
  api.fill_async = Fill;
  api.stream_create = StreamCreate;
  api.stream_destroy = StreamDestroy;
  api.stream_query = StreamQuery;
  api.stream_synchronize = StreamSynchronize;
  api.stream_wait_event = StreamWaitEvent;
  api.stream_capture_status = StreamCaptureStatus;
  api.stream_device = StreamDevice;
  api.exchange_capture_mode = ExchangeCaptureMode;
  api.event_create = EventCreate;
  api.event_destroy = EventDestroy;
  api.event_record = EventRecord;
  api.event_query = EventQuery;
  api.event_synchronize = EventSynchronize;
  api.device_synchronize = DeviceSynchronize;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
