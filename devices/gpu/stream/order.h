// Orders the earlier uses of memory before its next consumer (docs/protocol.md, rule 49).
//
//   absl::Status s = OrderBefore(context, uses, consumer);
//
// The consumer's stream waits for an event on each stream that may have pending work. The
// consumer's own stream and idle streams need no event. The host does not wait, except for streams
// of other backends. NotFound for work of a device that no backend serves.
//
// Captures into graphs: only work of the same capture can be ordered before a stream that is being
// captured.
//   pending work on a stream outside the capture          FailedPrecondition
//   work on the default stream                            taken to be done: a query would break the
//                                                         capture
//   the consumer is the default stream, and this          nothing is done
//   thread's current stream is being captured
//   work on the default stream, another consumer,         FailedPrecondition
//   while any capture is open

#ifndef DOVETAIL_DEVICES_GPU_STREAM_ORDER_H_
#define DOVETAIL_DEVICES_GPU_STREAM_ORDER_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/devices/gpu/context.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

absl::Status OrderBefore(GpuContext& context, const Uses& uses, const Stream& consumer);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_STREAM_ORDER_H_
