// Waits of the host, told to a trace (core/trace/trace.h).
//
//   if (absl::Status s = AwaitStream(*backend, stream); !s.ok()) return s;

#ifndef DOVETAIL_CORE_INTERNAL_HOST_WAIT_H_
#define DOVETAIL_CORE_INTERNAL_HOST_WAIT_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/trace/traced.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

// (g++ 12 warns strict users of members that {.kind = …} leaves to their defaults.)
inline TraceEvent WaitOn(Device device, absl::Span<const Stream> awaited) {
  TraceEvent event = {};
  event.kind = TraceKind::kWait;
  event.device = device;
  event.awaited = awaited;
  return event;
}

inline absl::Status AwaitStream(DeviceBackend& backend, const Stream& stream) {
  return Traced([&] { return WaitOn(stream.device(), absl::MakeConstSpan(&stream, 1)); },
                [&] { return backend.Synchronize(stream); });
}

inline absl::Status AwaitEvent(DeviceBackend& backend, const Event& event) {
  return Traced([&] { return WaitOn(event.device(), {}); },
                [&] { return backend.HostWait(event); });
}

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_HOST_WAIT_H_
