// The error of a door that cannot hand a tensor out as another library's.
//
//   return Refusal(tensor, "an Eigen::Map of rank 2", "it has 3 dimensions", "Reshape it");
//
// FailedPrecondition: "float32 tensor of shape (2, 3, 4) … cannot be an Eigen::Map of rank 2: it
// has 3 dimensions. Reshape it". Every door words its refusals with this function.

#ifndef DOVETAIL_INTEROP_REFUSAL_H_
#define DOVETAIL_INTEROP_REFUSAL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// `tensor` may be null. `remedy` tells the user what to do, as a sentence without its full stop.
[[gnu::cold]] absl::Status Refusal(const Tensor& tensor, absl::string_view target,
                                   absl::string_view reason, absl::string_view remedy);

// The same for what comes in: "cv::Mat of type 7 cannot be taken in: …". InvalidArgument.
[[gnu::cold]] absl::Status RefusalOf(absl::string_view source, absl::string_view reason,
                                     absl::string_view remedy);

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_REFUSAL_H_
