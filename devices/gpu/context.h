// GpuContext: what every part of one GPU backend works on.
//
//   GpuContext context(api);                       // opens nothing; a backend holds one
//   absl::StatusOr<Event> e = context.events.Record(stream);
//
// Not the vendor's context (CUcontext): that one is the business of devices/cuda. The members are
// made in this order and destroyed in the reverse one. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_CONTEXT_H_
#define DOVETAIL_DEVICES_GPU_CONTEXT_H_

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/memory/releaser.h"
#include "dovetail/devices/gpu/runtime/runtime.h"
#include "dovetail/devices/gpu/stream/events.h"
#include "dovetail/devices/gpu/stream/streams.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

struct GpuContext {
  explicit GpuContext(const RuntimeApi& api)
      : runtime(api), events(runtime), streams(runtime), releaser(runtime, events, streams) {}

  Runtime runtime;
  Events events;
  Streams streams;
  Releaser releaser;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_CONTEXT_H_
