// The order between what was given work on memory and who uses it next (docs/protocol.md, rule 49).
//
//   absl::Status s = OrderBefore(context, uses, consumer);
//
// The consumer's stream waits for an event on each stream that may have work left; nothing is
// recorded for the consumer's own stream, nor for one that is known to be idle, and the host does
// not wait. Streams of other backends are waited for on the host.
//
// While a stream is captured into a graph, only work of the same capture can be ordered before it.
// Work on the default stream is then taken to be done (asking would break the capture); work that
// is pending on another stream outside of the capture is FailedPrecondition. Nothing is done for a
// consumer on the default stream while this thread's own stream is captured; and work on the
// default stream can't be ordered before another one while a capture is open: FailedPrecondition.

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
