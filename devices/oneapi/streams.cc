// The functions of RuntimeApi for streams and events.

#include <memory>

#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/oneapi/submission.h"
#include "dovetail/devices/oneapi/sycl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// kCodeSuccess or kCodeNotReady.
Result Query(const Sycl& sycl, SyclEventHandle* event) {
  const int status = sycl->DPCTLEvent_GetCommandExecutionStatus(event);
  return status == kSyclComplete ? kCodeSuccess : kCodeNotReady;
}

// ---- Streams ----

Result DefaultStream(void* self, int device, NativeStream* stream) {
  if (!SyclOf(self).library.Has(device)) return kCodeInvalidDevice;
  *stream = FromStream(SyclOf(self).library.default_queue(device));
  return kCodeSuccess;
}

Result StreamCreate(void* self, NativeStream* stream) {
  Sycl& sycl = SyclOf(self);
  SyclQueue* queue = sycl.library.NewQueue(CurrentSyclDevice());
  if (queue == nullptr) return kCodeRefused;
  sycl.held.Add(queue, CurrentSyclDevice());
  *stream = FromStream(queue);
  return kCodeSuccess;
}

Result StreamHold(void* self, NativeStream stream, NativeStream* own) {
  SyclQueue* held;
  const Result result = SyclOf(self).held.Hold(ToStream<Sycl>(stream), &held);
  if (result == kCodeSuccess) *own = FromStream(held);
  return result;
}

Result StreamDestroy(void* self, NativeStream stream) {
  SyclOf(self).held.Release(ToStream<Sycl>(stream));
  return kCodeSuccess;
}

Result StreamDevice(void* self, NativeStream stream, int* device) {
  return SyclOf(self).held.DeviceOf(ToStream<Sycl>(stream), device);
}

Result StreamQuery(void* self, NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  SyclEventHandle* event = Submission(sycl.held, QueueOf(self, stream)).Barrier();
  if (event == nullptr) return kCodeRefused;
  const Result result = Query(sycl, event);
  sycl->DPCTLEvent_Delete(event);
  return result;
}

Result StreamSynchronize(void* self, NativeStream stream) {
  return SyclOf(self).held.Wait(QueueOf(self, stream));
}

// SYCL's graphs are recorded by objects of the program's, never by a queue's state.
Result StreamCaptureStatus(void*, NativeStream, CaptureStatus* status) {
  *status = CaptureStatus::kNone;
  return kCodeSuccess;
}

Result DeviceSynchronize(void* self) {
  return SyclOf(self).held.WaitForDevice(CurrentSyclDevice());
}

// ---- Events ----

SyclEvent& EventOf(NativeEvent event) { return *static_cast<SyclEvent*>(event); }

Result EventCreate(void*, unsigned flags, NativeEvent* event) {
  if ((flags & kEventInterprocess) != 0) return kCodeNotSupported;
  *event = new SyclEvent;
  return kCodeSuccess;
}

Result EventDestroy(void* self, NativeEvent event) {
  const std::unique_ptr<SyclEvent> owned(&EventOf(event));
  if (owned->handle != nullptr) SyclOf(self)->DPCTLEvent_Delete(owned->handle);
  return kCodeSuccess;
}

Result EventRecord(void* self, NativeEvent event, NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  Submission to(sycl.held, QueueOf(self, stream));
  SyclEventHandle* recorded = to.Barrier();
  if (recorded == nullptr) return kCodeRefused;
  SyclEvent& kept = EventOf(event);
  kept.is_foreign = to.IsForeign();
  if (kept.handle != nullptr) sycl->DPCTLEvent_Delete(kept.handle);
  kept.handle = recorded;
  return kCodeSuccess;
}

Result EventQuery(void* self, NativeEvent event) {
  SyclEventHandle* handle = EventOf(event).handle;
  return handle == nullptr ? kCodeSuccess : Query(SyclOf(self), handle);
}

Result EventSynchronize(void* self, NativeEvent event) {
  const SyclEvent& waited = EventOf(event);
  return waited.handle == nullptr ? kCodeSuccess : SyclOf(self).held.Wait(waited);
}

Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent event) {
  Sycl& sycl = SyclOf(self);
  if (EventOf(event).handle == nullptr) return kCodeSuccess;
  Submission to(sycl.held, QueueOf(self, stream));
  to.WaitFor(EventOf(event));
  return Done(to.ok());
}

}  // namespace

void FillStreams(RuntimeApi& api) {
  api.default_stream = DefaultStream;
  api.stream_create = StreamCreate;
  api.stream_hold = StreamHold;
  api.stream_destroy = StreamDestroy;
  api.stream_query = StreamQuery;
  api.stream_synchronize = StreamSynchronize;
  api.stream_wait_event = StreamWaitEvent;
  api.stream_capture_status = StreamCaptureStatus;
  api.stream_device = StreamDevice;
  api.has_vendor_events = false;
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
