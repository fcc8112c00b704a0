#include "dovetail/core/trace/no_copies.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

thread_local constinit int NoCopiesScope::depth_ = 0;

absl::Status NoCopiesScope::Refusal() {
  return absl::FailedPreconditionError(
      "This takes a copy of the tensor, which no_copies forbids here.");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
