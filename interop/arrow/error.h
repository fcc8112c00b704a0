// The error of an import from Arrow: InvalidArgument, "This Arrow array can't be imported: …".

#ifndef DOVETAIL_INTEROP_ARROW_ERROR_H_
#define DOVETAIL_INTEROP_ARROW_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// `what` is a clause without its full stop: what is wrong, and the remedy after a semicolon.
[[gnu::cold]] inline absl::Status ArrowError(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("This Arrow array can't be imported: ", what, "."));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_ERROR_H_
