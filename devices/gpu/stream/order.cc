#include "dovetail/devices/gpu/stream/order.h"

#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

bool IsDefault(const Stream& stream) { return stream.native() == NativeStream{0}; }

bool IsOurs(const GpuContext& context, Device device) {
  return StreamDevice(device).type == context.runtime.vendor().device;
}

// Backends can't wait for each other's events: for work of another one, the host waits.
class Ordering {
 public:
  Ordering(GpuContext& context, const Stream& consumer, bool captured)
      : context_(context), consumer_(consumer), captured_(captured) {}

  absl::Status After(const Stream& stream) {
    if (stream == consumer_) return absl::OkStatus();
    if (!IsOurs(context_, stream.device())) return AwaitOnHost(stream);
    if (captured_) {
      if (IsDefault(stream)) return absl::OkStatus();
      absl::StatusOr<bool> with_it = context_.streams.IsCapturing(stream);
      if (!with_it.ok()) return with_it.status();
      if (!*with_it) return CheckDone(context_.streams.IsIdle(stream), stream);
    } else if (IsDefault(stream)) {
      // A query of it would break the capture.
      if (context_.streams.IsCaptureOpen(stream.device())) return CheckDone(false, stream);
      // An event on it would make other streams wait for each other. (Elsewhere an event takes less
      // time than the question.)
      if (context_.streams.IsIdleOutsideCapture(stream)) return absl::OkStatus();
    }
    absl::StatusOr<Event> event = context_.events.Record(stream);
    if (!event.ok()) return event.status();
    return context_.events.Wait(consumer_, *event);
  }

  absl::Status After(const Event& event) {
    if (!IsOurs(context_, event.device())) return AwaitOnHost(event);
    if (Events::HoldOf(event) != nullptr) return absl::OkStatus();
    if (!captured_) {
      return Events::IsCaptured(event) ? absl::OkStatus() : context_.events.Wait(consumer_, event);
    }
    if (Events::IsCaptured(event)) return context_.events.Wait(consumer_, event);
    return CheckDone(context_.events.Query(event).value_or(false), Stream::Default(event.device()));
  }

 private:
  absl::Status CheckDone(bool done, const Stream& stream) {
    if (done) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "Work on the memory may be pending on ", stream.ToString(),
        ", outside of a graph that is being captured; wait for it before the capture begins."));
  }

  GpuContext& context_;
  const Stream& consumer_;
  const bool captured_;
};

}  // namespace

absl::Status OrderBefore(GpuContext& context, const Uses& uses, const Stream& consumer) {
  context.releaser.Drain(consumer);
  absl::StatusOr<bool> captured = context.streams.IsCapturing(consumer);
  if (!captured.ok()) return captured.status();
  if (IsDefault(consumer)) {
    absl::StatusOr<bool> ours = context.streams.IsCapturing(CurrentStream(consumer.device()));
    if (!ours.ok() || *ours) return ours.status();
  }
  const Uses::UseList streams = uses.streams();
  // Waiting for captured work makes the consumer part of the capture.
  for (const Uses::Use& use : streams) {
    if (*captured) break;
    if (use.stream == consumer) continue;
    if (!IsOurs(context, use.stream.device())) continue;
    captured = context.streams.IsCapturing(use.stream);
    if (!captured.ok()) return captured.status();
  }
  Ordering ordering(context, consumer, *captured);
  for (const Uses::Use& use : streams) {
    if (absl::Status s = ordering.After(use.stream); !s.ok()) return s;
  }
  for (const Event& event : uses.events()) {
    if (absl::Status s = ordering.After(event); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
