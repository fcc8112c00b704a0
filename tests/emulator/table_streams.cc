// RuntimeApi's streams and events.

#include <utility>

#include "dovetail/tests/emulator/call.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

using gpu::NativeEvent;

EmulatedEvent* AsEvent(NativeEvent event) { return static_cast<EmulatedEvent*>(event); }

Result StreamCreate(void* self, NativeStream* stream) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  ++call->counts.stream_creates;
  Queue* queue = call->queues.Make(device, /*blocking=*/false);
  call->by_handle[queue->handle] = queue;
  *stream = NativeStream{queue->handle};
  return kOk;
}
Result StreamDestroy(void* self, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue != nullptr) queue->destroyed = true;
  return result;
}
Result CheckAsk(Call& call, Queue* queue, const char* what) {
  if (queue->graph != nullptr) {
    call->BreakCaptures(queue->device, what);
    return Code(ResultClass::kCaptureViolation);
  }
  return call->CheckLegacy(queue);
}
// Whether all work is done; runs it once it was queried often enough.
bool IsDoneOrPatient(Call& call, const Points& points, int* asked) {
  bool done = true;
  for (const Point& point : points) done = done && call->queues.IsDone(point);
  if (done) return true;
  for (const Point& point : points) {
    if (call->queues.WouldBlock(point)) return false;
  }
  if (++*asked <= call->options.patience) return false;
  *asked = 0;
  call->queues.RunTo(points);
  return true;
}
Result StreamQuery(void* self, NativeStream stream) {
  Call call(self);
  ++call->counts.stream_queries;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  if (result = CheckAsk(call, queue, "asking a captured stream"); result != kOk) return result;
  return IsDoneOrPatient(call, call->PointsNow(queue), &queue->asked)
             ? kOk
             : Code(ResultClass::kNotReady);
}
Result StreamSynchronize(void* self, NativeStream stream) {
  Call call(self);
  ++call->counts.host_waits;
  if (const Result r = call->FailureOf(Function::kStreamSynchronize); r != kOk) return r;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  if (result = CheckAsk(call, queue, "waiting for a captured stream"); result != kOk) {
    return result;
  }
  call->queues.RunTo(call->PointsNow(queue));
  return kOk;
}
Result StreamWaitEvent(void* self, NativeStream stream, NativeEvent native) {
  Call call(self);
  ++call->counts.stream_waits;
  if (const Result r = call->FailureOf(Function::kStreamWaitEvent); r != kOk) return r;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  EmulatedEvent* event = AsEvent(native);
  if (result = call->CheckEvent(event, "A wait"); result != kOk) return result;
  if (call->has(Fault::kIgnoreWaits)) return kOk;
  if (event->graph != nullptr) {
    queue->graph = event->graph;  // the stream joins the capture
    return kOk;
  }
  if (queue->graph != nullptr) {
    call->BreakCaptures(queue->device, "a wait for work outside of it");
    return Code(ResultClass::kCaptureViolation);
  }
  return call->Add(queue, nullptr, event->points);
}
Result StreamCaptureStatus(void* self, NativeStream stream, gpu::CaptureStatus* status) {
  Call call(self);
  if (const Result r = call->FailureOf(Function::kStreamCaptureStatus); r != kOk) return r;
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue == nullptr) return result;
  *status = queue->graph == nullptr     ? gpu::CaptureStatus::kNone
            : queue->graph->invalidated ? gpu::CaptureStatus::kInvalidated
                                        : gpu::CaptureStatus::kActive;
  return kOk;
}
Result StreamDevice(void* self, NativeStream stream, int* device) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, false, &result);
  if (queue != nullptr) *device = queue->device;
  return result;
}
Result ExchangeCaptureMode(void* self, gpu::CaptureMode* mode) {
  Call call(self);
  std::swap(call->modes[std::this_thread::get_id()], *mode);
  return kOk;
}

// ---- Events ----

Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
  Call call(self);
  if (const Result r = call->FailureOf(Function::kEventCreate); r != kOk) return r;
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  ++call->counts.event_creates;
  call->events.push_back(std::make_unique<EmulatedEvent>());
  call->events.back()->device = device;
  call->events.back()->interprocess = (flags & gpu::kEventInterprocess) != 0;
  *event = call->events.back().get();
  return kOk;
}
Result EventDestroy(void* self, NativeEvent event) {
  Call call(self);
  const Result r = call->CheckEvent(AsEvent(event), "A destruction");
  if (r == kOk) AsEvent(event)->destroyed = true;
  return r;
}
Result EventRecord(void* self, NativeEvent native, NativeStream stream) {
  Call call(self);
  ++call->counts.event_records;
  if (const Result r = call->FailureOf(Function::kEventRecord); r != kOk) return r;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = call->CheckEvent(event, "A record"); r != kOk) return r;
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if (event->device != queue->device) {
    call->Complain("An event was recorded on a stream of another device.");
    return Code(ResultClass::kInvalidHandle);
  }
  if (result = call->CheckLegacy(queue); result != kOk) return result;
  event->graph = queue->graph;
  event->asked = 0;
  event->points = call->has(Fault::kEventsHappenEarly) ? Points{} : call->PointsNow(queue);
  return kOk;
}
Result ContextRecordEvent(void* self, NativeEvent native) {
  Call call(self);
  ++call->counts.context_event_records;
  if (const Result r = call->FailureOf(Function::kContextRecordEvent); r != kOk) return r;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = call->CheckEvent(event, "A record"); r != kOk) return r;
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  if (call->AnyCapture(device)) {
    call->BreakCaptures(device, "an event over the device's whole work");
    return Code(ResultClass::kCaptureViolation);
  }
  event->graph = nullptr;
  event->asked = 0;
  event->points.clear();
  if (call->has(Fault::kEventsHappenEarly)) return kOk;
  for (const auto& queue : call->queues.all()) {
    if (queue->device == device) event->points.push_back(call->queues.Tail(queue.get()));
  }
  return kOk;
}
Result CheckAskEvent(Call& call, EmulatedEvent* event, const char* what) {
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  if (const Result r = call->CheckEvent(event, what); r != kOk) return r;
  if (event->graph == nullptr) return kOk;
  call->BreakCaptures(event->device, "asking a captured event");
  return Code(ResultClass::kCaptureViolation);
}
Result EventQuery(void* self, NativeEvent native) {
  Call call(self);
  if (const Result r = call->FailureOf(Function::kEventQuery); r != kOk) return r;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = CheckAskEvent(call, event, "A query"); r != kOk) return r;
  return IsDoneOrPatient(call, event->points, &event->asked) ? kOk : Code(ResultClass::kNotReady);
}
Result EventSynchronize(void* self, NativeEvent native) {
  Call call(self);
  ++call->counts.host_waits;
  if (const Result r = call->FailureOf(Function::kEventSynchronize); r != kOk) return r;
  EmulatedEvent* event = AsEvent(native);
  if (const Result r = CheckAskEvent(call, event, "A wait of the host"); r != kOk) return r;
  call->queues.RunTo(event->points);
  return kOk;
}
Result DeviceSynchronize(void* self) {
  Call call(self);
  ++call->counts.device_synchronizes;
  ++call->counts.host_waits;
  if (const Result r = call->FailureOf(Function::kDeviceSynchronize); r != kOk) return r;
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  if (call->AnyCapture(device)) {
    call->BreakCaptures(device, "a wait for the device");
    return Code(ResultClass::kCaptureViolation);
  }
  call->queues.RunDevice(device);
  return kOk;
}

}  // namespace

void FillStreams(gpu::RuntimeApi& api, const EmulatorOptions& options) {
  api.stream_create = &StreamCreate;
  api.stream_destroy = &StreamDestroy;
  api.stream_query = &StreamQuery;
  api.stream_synchronize = &StreamSynchronize;
  api.stream_wait_event = &StreamWaitEvent;
  api.stream_capture_status = &StreamCaptureStatus;
  if (options.has_stream_device) api.stream_device = &StreamDevice;
  api.exchange_capture_mode = &ExchangeCaptureMode;
  api.event_create = &EventCreate;
  api.event_destroy = &EventDestroy;
  api.event_record = &EventRecord;
  api.event_query = &EventQuery;
  api.event_synchronize = &EventSynchronize;
  if (options.has_context_events) api.context_record_event = &ContextRecordEvent;
  api.device_synchronize = &DeviceSynchronize;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
