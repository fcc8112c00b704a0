// The functions of RuntimeApi for streams and events, for vendors whose functions have the shape of
// CUDA's: StreamFunctions<Vendor>::Fill(api).
//
// `Vendor` has the types (Stream, Event, ...), flags and symbols named below. What differs between
// vendors stays in their folders: stream_device and context_record_event.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_STREAM_FUNCTIONS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_STREAM_FUNCTIONS_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/device_functions.h"
#include "dovetail/devices/gpu/vendor/handles.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <typename Vendor>
struct StreamFunctions {
  // ---- Streams ----

  static Result StreamCreate(void* self, NativeStream* stream) {
    typename Vendor::Stream made;
    const Result result =
        LibraryOf<Vendor>(self).Call(Vendor::kStreamCreate, &made, Vendor::kStreamNonBlocking);
    if (result == kCodeSuccess) *stream = FromStream(made);
    return result;
  }

  static Result StreamDestroy(void* self, NativeStream stream) {
    return LibraryOf<Vendor>(self).Call(Vendor::kStreamDestroy, ToStream<Vendor>(stream));
  }

  static Result StreamQuery(void* self, NativeStream stream) {
    return LibraryOf<Vendor>(self).Call(Vendor::kStreamQuery, ToStream<Vendor>(stream));
  }

  static Result StreamSynchronize(void* self, NativeStream stream) {
    return LibraryOf<Vendor>(self).Call(Vendor::kStreamSynchronize, ToStream<Vendor>(stream));
  }

  static Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent event) {
    return LibraryOf<Vendor>(self).Call(Vendor::kStreamWaitEvent, ToStream<Vendor>(stream),
                                        ToEvent<Vendor>(event), 0u);
  }

  // ---- Capture into graphs; the vendors number the modes as CaptureMode does ----

  static Result StreamCaptureStatus(void* self, NativeStream stream, CaptureStatus* status) {
    typename Vendor::CaptureState found;
    const Result result =
        LibraryOf<Vendor>(self).Call(Vendor::kStreamIsCapturing, ToStream<Vendor>(stream), &found);
    if (result != kCodeSuccess) return result;
    *status = found == Vendor::kCaptureNone     ? CaptureStatus::kNone
              : found == Vendor::kCaptureActive ? CaptureStatus::kActive
                                                : CaptureStatus::kInvalidated;
    return result;
  }

  static Result ExchangeCaptureMode(void* self, CaptureMode* mode) {
    static_assert(static_cast<int>(CaptureMode::kGlobal) == Vendor::kCaptureGlobal);
    static_assert(static_cast<int>(CaptureMode::kThreadLocal) == Vendor::kCaptureThreadLocal);
    static_assert(static_cast<int>(CaptureMode::kRelaxed) == Vendor::kCaptureRelaxed);
    auto exchanged = static_cast<typename Vendor::CaptureMode>(*mode);
    const Result result = LibraryOf<Vendor>(self).Call(Vendor::kExchangeCaptureMode, &exchanged);
    if (result == kCodeSuccess) *mode = static_cast<CaptureMode>(exchanged);
    return result;
  }

  // ---- Events ----

  static Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
    typename Vendor::Event made;
    const unsigned shared = (flags & kEventInterprocess) != 0 ? Vendor::kEventInterprocessFlag : 0u;
    const Result result = LibraryOf<Vendor>(self).Call(Vendor::kEventCreate, &made,
                                                       Vendor::kEventDisableTiming | shared);
    if (result == kCodeSuccess) *event = made;
    return result;
  }

  static Result EventDestroy(void* self, NativeEvent event) {
    return LibraryOf<Vendor>(self).Call(Vendor::kEventDestroy, ToEvent<Vendor>(event));
  }

  static Result EventRecord(void* self, NativeEvent event, NativeStream stream) {
    return LibraryOf<Vendor>(self).Call(Vendor::kEventRecord, ToEvent<Vendor>(event),
                                        ToStream<Vendor>(stream));
  }

  static Result EventQuery(void* self, NativeEvent event) {
    return LibraryOf<Vendor>(self).Call(Vendor::kEventQuery, ToEvent<Vendor>(event));
  }

  static Result EventSynchronize(void* self, NativeEvent event) {
    return LibraryOf<Vendor>(self).Call(Vendor::kEventSynchronize, ToEvent<Vendor>(event));
  }

  static Result DeviceSynchronize(void* self) {
    return LibraryOf<Vendor>(self).Call(Vendor::kDeviceSynchronize);
  }

  static void Fill(RuntimeApi& api) {
    api.stream_create = StreamCreate;
    api.stream_destroy = StreamDestroy;
    api.stream_query = StreamQuery;
    api.stream_synchronize = StreamSynchronize;
    api.stream_wait_event = StreamWaitEvent;
    api.stream_capture_status = StreamCaptureStatus;
    api.exchange_capture_mode = ExchangeCaptureMode;
    api.event_create = EventCreate;
    api.event_destroy = EventDestroy;
    api.event_record = EventRecord;
    api.event_query = EventQuery;
    api.event_synchronize = EventSynchronize;
    api.device_synchronize = DeviceSynchronize;
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_STREAM_FUNCTIONS_H_
