#include "dovetail/interop/refusal.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

absl::Status Refusal(const Tensor& tensor, absl::string_view target, absl::string_view reason,
                     absl::string_view remedy) {
  return absl::FailedPreconditionError(
      absl::StrCat(tensor.is_null() ? "a null tensor" : tensor.ToString(), " cannot be ", target,
                   ": ", tensor.is_null() ? "it has no memory" : reason, ". ", remedy));
}

absl::Status RefusalOf(absl::string_view source, absl::string_view reason,
                       absl::string_view remedy) {
  return absl::InvalidArgumentError(
      absl::StrCat(source, " cannot be taken in: ", reason, ". ", remedy));
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
