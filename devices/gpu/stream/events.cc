#include "dovetail/devices/gpu/stream/events.h"

#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct Events::State {
  State(std::shared_ptr<Pool> p, NativeEvent h) : pool(std::move(p)), handle(h) {}
  explicit State(NativeEvent h) : handle(h) {}
  explicit State(std::shared_ptr<Hold> h) : hold(std::move(h)) {}
  ~State() {
    if (pool == nullptr) return;
    absl::MutexLock lock(&pool->mutex);
    pool->free.push_back(handle);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<Pool> pool;    // receives the handle back; null: the handle is borrowed
  NativeEvent handle = nullptr;  // null: this is a Hold
  std::shared_ptr<Hold> hold;
  bool captured = false;
};

Event Events::OfHold(Device device, std::shared_ptr<Hold> hold) {
  return Event(device, std::make_shared<State>(std::move(hold)));
}

Hold* Events::HoldOf(const Event& event) {
  const auto* state = static_cast<const State*>(event.state());
  return state == nullptr ? nullptr : state->hold.get();
}

Event Events::Borrow(Device device, NativeEvent handle) {
  return Event(device, std::make_shared<State>(handle));
}

std::shared_ptr<Events::Pool> Events::PoolOf(int device) {
  absl::MutexLock lock(&mutex_);
  while (pools_.size() <= static_cast<size_t>(device)) pools_.push_back(std::make_shared<Pool>());
  return pools_[device];
}

absl::StatusOr<std::shared_ptr<Events::State>> Events::Take(int device) {
  std::shared_ptr<Pool> pool = PoolOf(device);
  NativeEvent handle = nullptr;
  {
    absl::MutexLock lock(&pool->mutex);
    if (!pool->free.empty()) {
      handle = pool->free.back();
      pool->free.pop_back();
    } else {
      pool->free.reserve(pool->free.capacity() + 1);  // so that returning a handle can't fail
    }
  }
  if (handle == nullptr) {
    const RuntimeApi& api = runtime_.api();
    absl::Status s =
        runtime_.Check(api.event_create(api.self, kEventPlain, &handle), "creating an event");
    if (!s.ok()) return s;
  }
  return std::make_shared<State>(std::move(pool), handle);
}

absl::StatusOr<Event> Events::Record(const Stream& stream) {
  const Device device = StreamDevice(stream.device());
  DeviceGuard guard(runtime_, device.index);
  if (!guard.ok()) return guard.status();
  absl::StatusOr<std::shared_ptr<State>> state = Take(device.index);
  if (!state.ok()) return state.status();
  const RuntimeApi& api = runtime_.api();
  const NativeStream native = runtime_.Native(stream);
  if (native != api.legacy_stream) {
    CaptureStatus capture = CaptureStatus::kNone;
    absl::Status s = runtime_.Check(api.stream_capture_status(api.self, native, &capture),
                                    "asking a stream whether it is captured");
    if (!s.ok()) return s;
    (*state)->captured = capture != CaptureStatus::kNone;
  }
  absl::Status s =
      runtime_.Check(api.event_record(api.self, (*state)->handle, native), "recording an event");
  if (!s.ok()) return s;
  return Event(device, *std::move(state));
}

absl::StatusOr<Event> Events::RecordContext(int index) {
  const RuntimeApi& api = runtime_.api();
  if (api.context_record_event == nullptr) {
    return absl::UnimplementedError("This runtime has no event over a device's whole work.");
  }
  DeviceGuard guard(runtime_, index);
  if (!guard.ok()) return guard.status();
  absl::StatusOr<std::shared_ptr<State>> state = Take(index);
  if (!state.ok()) return state.status();
  absl::Status s = runtime_.Check(api.context_record_event(api.self, (*state)->handle),
                                  "recording an event over the device's work");
  if (!s.ok()) return s;
  return Event(runtime_.DeviceAt(index), *std::move(state));
}

absl::Status Events::Wait(const Stream& stream, const Event& event) {
  if (HoldOf(event) != nullptr) return absl::OkStatus();
  if (!IsCaptured(event) && runtime_.IsUntouched(stream)) return Synchronize(event);
  DeviceGuard guard(runtime_, StreamDevice(stream.device()).index);
  if (!guard.ok()) return guard.status();
  const RuntimeApi& api = runtime_.api();
  return runtime_.Check(api.stream_wait_event(api.self, runtime_.Native(stream), Native(event)),
                        "letting a stream wait for an event");
}

absl::StatusOr<bool> Events::Query(const Event& event) {
  if (absl::Status s = runtime_.Ready(); !s.ok()) return s;
  if (HoldOf(event) != nullptr) return false;
  if (IsCaptured(event)) {
    return absl::FailedPreconditionError(
        "The event belongs to a graph that was captured; it can't be queried.");
  }
  DeviceGuard guard(runtime_, event.device().index);
  if (!guard.ok()) return guard.status();
  const RelaxedCaptureMode relaxed(runtime_);
  const RuntimeApi& api = runtime_.api();
  const Result result = api.event_query(api.self, Native(event));
  if (runtime_.Classify(result) == ResultClass::kNotReady) return false;
  if (absl::Status s = runtime_.Check(result, "asking an event"); !s.ok()) return s;
  return true;
}

absl::Status Events::Synchronize(const Event& event) {
  if (absl::Status s = runtime_.Ready(); !s.ok()) return s;
  if (HoldOf(event) != nullptr) return absl::OkStatus();
  if (IsCaptured(event)) {
    return absl::FailedPreconditionError(
        "The event belongs to a graph that was captured; the host can't wait for it.");
  }
  DeviceGuard guard(runtime_, event.device().index);
  if (!guard.ok()) return guard.status();
  const RuntimeApi& api = runtime_.api();
  return runtime_.Check(api.event_synchronize(api.self, Native(event)), "waiting for an event");
}

bool Events::IsCaptured(const Event& event) {
  return static_cast<const State*>(event.state())->captured;
}

NativeEvent Events::Native(const Event& event) {
  return static_cast<const State*>(event.state())->handle;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
