// Copies of elements: into a tensor, to a device, into a dense tensor; and fills.
//
//   absl::Status s = Copy(dst, src);                       // broadcasts src to dst's shape
//   absl::StatusOr<Tensor> y = CopyTo(x, Device::Cuda(0)); // always new memory
//   absl::StatusOr<Tensor> z = Contiguous(x);              // x itself when it is dense already
//
// The types must be equal; nothing is cast. The backend of whichever side is not the CPU does the
// work, ordered on the stream given, after all work on the two so far. Without a stream it is
// ordered on the current one; where the host can reach either side, it is then done when the call
// returns.

#ifndef DOVETAIL_CORE_COPY_H_
#define DOVETAIL_CORE_COPY_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"

namespace dovetail::inline DOVETAIL_ABI {

// Copies the elements of `src`, broadcast to the shape of `dst`, into `dst`. Where the two overlap
// the result is as if `src` had been copied first. FailedPrecondition for a read-only `dst`,
// InvalidArgument for types or shapes that do not go together, NotFound for a device without
// backend.
absl::Status Copy(const Tensor& dst, const Tensor& src,
                  const std::optional<Stream>& stream = std::nullopt);

// Sets every element of `dst` to the one at `element`, which has dst's type and lies on the host.
absl::Status Fill(const Tensor& dst, const void* element,
                  const std::optional<Stream>& stream = std::nullopt);

// A new, dense, writable copy on `device`. Sub-byte elements are packed in it.
absl::StatusOr<Tensor> CopyTo(const Tensor& src, Device device,
                              const std::optional<Stream>& stream = std::nullopt);

// `src` itself when it is row-major without gaps, else a dense copy on its device.
absl::StatusOr<Tensor> Contiguous(const Tensor& src,
                                  const std::optional<Stream>& stream = std::nullopt);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_CORE_COPY_H_
