// Copies between two devices that no single backend reaches, such as those of two vendors. Internal
// to copy.cc.
//
//   if (NeedsTheHost(dst.device(), src.device())) return CopyThroughHost(dst, src, stream);
//
// Each side's own device packs or unpacks elements that do not follow each other. The elements pass
// through two blocks of host memory, which are pinned if the source's backend has pinned memory:
// the source's device fills one block while the destination's device empties the other. The host
// waits between the two steps of each block. The copy is done when the call returns.

#ifndef DOVETAIL_CORE_INTERNAL_COPY_THROUGH_HOST_H_
#define DOVETAIL_CORE_INTERNAL_COPY_THROUGH_HOST_H_

#include <optional>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Whether different backends serve `dst` and `src`, and neither is ordinary host memory.
bool NeedsTheHost(Device dst, Device src);

// `dst` and `src` have the same type and shape, and at least one element. The work of each side is
// enqueued on `stream` if the stream belongs to that side's device, else on that device's current
// stream.
absl::Status CopyThroughHost(const Tensor& dst, const Tensor& src,
                             const std::optional<Stream>& stream);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_COPY_THROUGH_HOST_H_
