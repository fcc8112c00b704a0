// Errors of ONNX Runtime's C functions as absl::Status. The door calls only the C functions, so it
// throws no Ort::Exception, and also compiles with ORT_NO_EXCEPTIONS.
//
//   absl::Status s = TakeOrtStatus(Ort::GetApi().GetValueType(value, &type));
//
// Any thread.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_STATUS_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

[[gnu::cold]] inline absl::Status ErrorOf(OrtStatus* status) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  switch (Ort::GetApi().GetErrorCode(status)) {
    case ORT_INVALID_ARGUMENT:
      code = absl::StatusCode::kInvalidArgument;
      break;
    case ORT_NOT_IMPLEMENTED:
      code = absl::StatusCode::kUnimplemented;
      break;
    default:
      break;
  }
  absl::Status error(code, absl::StrCat("ONNX Runtime: ", Ort::GetApi().GetErrorMessage(status)));
  Ort::GetApi().ReleaseStatus(status);
  return error;
}

// Takes `status`, which is null if there is no error.
inline absl::Status TakeOrtStatus(OrtStatus* status) {
  if (status == nullptr) [[likely]]
    return absl::OkStatus();
  return ErrorOf(status);
}

}  // namespace internal_onnxruntime
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_STATUS_H_
