// Copies between devices that no backend reaches both of: of two vendors. Internal to copy.cc.
//
//   if (NeedsTheHost(dst.device(), src.device())) return CopyThroughHost(dst, src, stream);
//
// The elements pass through two blocks of host memory, pinned where the source's backend has such:
// one is filled by the source's device while the other is emptied by the destination's. The host
// waits between the two halves; the copy is done when the call returns.

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

// Whether the two are served by different backends and neither is ordinary memory.
bool NeedsTheHost(Device dst, Device src);

// Of one type and shape, with elements. Each side works on `stream` where that is of its device,
// else on its current one.
absl::Status CopyThroughHost(const Tensor& dst, const Tensor& src,
                             const std::optional<Stream>& stream);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_COPY_THROUGH_HOST_H_
