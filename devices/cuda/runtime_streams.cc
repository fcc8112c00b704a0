// What goes in the order of streams: copies, fills, the streams themselves, and events.

#include "dovetail/devices/cuda/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ---- Copies and fills ----

Result Copy(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  return SymbolsOf(self).cuMemcpyAsync(AsAddress(dst), AsAddress(src), nbytes, AsStream(stream));
}

Result CopyPeer(void* self, void* dst, int dst_device, const void* src, int src_device,
                size_t nbytes, NativeStream stream) {
  CUcontext to, from;
  CUresult result = DriverOf(self).Context(dst_device, &to);
  if (result == CUDA_SUCCESS) result = DriverOf(self).Context(src_device, &from);
  if (result != CUDA_SUCCESS) return result;
  return SymbolsOf(self).cuMemcpyPeerAsync(AsAddress(dst), to, AsAddress(src), from, nbytes,
                                           AsStream(stream));
}

// A rectangle's copy is told what kind of memory each side is; the driver can find that out itself
// only for memory that it knows.
Result KindOf(void* self, const void* ptr, CUmemorytype* type) {
  PointerInfo info;
  const Result result = CudaPointerInfo(self, ptr, &info);
  if (result != CUDA_SUCCESS) return result;
  *type = info.kind == PointerKind::kDevice    ? CU_MEMORYTYPE_DEVICE
          : info.kind == PointerKind::kManaged ? CU_MEMORYTYPE_UNIFIED
                                               : CU_MEMORYTYPE_HOST;
  return result;
}

Result Copy2d(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
              size_t width, size_t height, NativeStream stream) {
  CUDA_MEMCPY2D copy = {};
  Result result = KindOf(self, dst, &copy.dstMemoryType);
  if (result == CUDA_SUCCESS) result = KindOf(self, src, &copy.srcMemoryType);
  if (result != CUDA_SUCCESS) return result;
  copy.dstHost = dst;
  copy.dstDevice = AsAddress(dst);
  copy.dstPitch = dst_pitch;
  copy.srcHost = src;
  copy.srcDevice = AsAddress(src);
  copy.srcPitch = src_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return SymbolsOf(self).cuMemcpy2DAsync_v2(&copy, AsStream(stream));
}

Result Fill(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
            NativeStream stream) {
  const CudaSymbols& cu = SymbolsOf(self);
  switch (element_size) {
    case 1:
      return cu.cuMemsetD8Async(AsAddress(dst), static_cast<unsigned char>(pattern), count,
                                AsStream(stream));
    case 2:
      return cu.cuMemsetD16Async(AsAddress(dst), static_cast<unsigned short>(pattern), count,
                                 AsStream(stream));
    case 4:
      return cu.cuMemsetD32Async(AsAddress(dst), pattern, count, AsStream(stream));
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// ---- Streams ----

Result StreamCreate(void* self, NativeStream* stream) {
  CUstream made;
  const CUresult result = SymbolsOf(self).cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) *stream = NativeStream{reinterpret_cast<uintptr_t>(made)};
  return result;
}

Result StreamDestroy(void* self, NativeStream stream) {
  return SymbolsOf(self).cuStreamDestroy_v2(AsStream(stream));
}

Result StreamQuery(void* self, NativeStream stream) {
  return SymbolsOf(self).cuStreamQuery(AsStream(stream));
}

Result StreamSynchronize(void* self, NativeStream stream) {
  return SymbolsOf(self).cuStreamSynchronize(AsStream(stream));
}

Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent event) {
  return SymbolsOf(self).cuStreamWaitEvent(AsStream(stream), AsEvent(event), 0);
}

Result StreamCaptureStatus(void* self, NativeStream stream, CaptureStatus* status) {
  CUstreamCaptureStatus found;
  const CUresult result = SymbolsOf(self).cuStreamIsCapturing(AsStream(stream), &found);
  if (result != CUDA_SUCCESS) return result;
  *status = found == CU_STREAM_CAPTURE_STATUS_NONE     ? CaptureStatus::kNone
            : found == CU_STREAM_CAPTURE_STATUS_ACTIVE ? CaptureStatus::kActive
                                                       : CaptureStatus::kInvalidated;
  return result;
}

Result StreamDevice(void* self, NativeStream stream, int* device) {
  CUcontext context;
  const CUresult result = SymbolsOf(self).cuStreamGetCtx(AsStream(stream), &context);
  return result != CUDA_SUCCESS ? result : DriverOf(self).DeviceOf(context, device);
}

static_assert(static_cast<int>(CaptureMode::kGlobal) == CU_STREAM_CAPTURE_MODE_GLOBAL);
static_assert(static_cast<int>(CaptureMode::kThreadLocal) == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(static_cast<int>(CaptureMode::kRelaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);

Result ExchangeCaptureMode(void* self, CaptureMode* mode) {
  auto exchanged = static_cast<CUstreamCaptureMode>(*mode);
  const CUresult result = SymbolsOf(self).cuThreadExchangeStreamCaptureMode(&exchanged);
  if (result == CUDA_SUCCESS) *mode = static_cast<CaptureMode>(exchanged);
  return result;
}

// ---- Events ----

Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
  CUevent made;
  const CUresult result = SymbolsOf(self).cuEventCreate(
      &made, CU_EVENT_DISABLE_TIMING |
                 ((flags & kEventInterprocess) != 0 ? CU_EVENT_INTERPROCESS : CU_EVENT_DEFAULT));
  if (result == CUDA_SUCCESS) *event = made;
  return result;
}

Result EventDestroy(void* self, NativeEvent event) {
  return SymbolsOf(self).cuEventDestroy_v2(AsEvent(event));
}

Result EventRecord(void* self, NativeEvent event, NativeStream stream) {
  return SymbolsOf(self).cuEventRecord(AsEvent(event), AsStream(stream));
}

Result EventQuery(void* self, NativeEvent event) {
  return SymbolsOf(self).cuEventQuery(AsEvent(event));
}

Result EventSynchronize(void* self, NativeEvent event) {
  return SymbolsOf(self).cuEventSynchronize(AsEvent(event));
}

Result ContextRecordEvent(void* self, NativeEvent event) {
  const CudaSymbols& cu = SymbolsOf(self);
  if (cu.cuCtxRecordEvent == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  CUcontext current;
  const CUresult result = cu.cuCtxGetCurrent(&current);
  return result != CUDA_SUCCESS ? result : cu.cuCtxRecordEvent(current, AsEvent(event));
}

Result DeviceSynchronize(void* self) { return SymbolsOf(self).cuCtxSynchronize(); }

}  // namespace

void FillCudaStreams(RuntimeApi& api) {
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
  api.context_record_event = ContextRecordEvent;
  api.device_synchronize = DeviceSynchronize;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
