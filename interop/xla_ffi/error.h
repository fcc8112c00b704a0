// An absl::Status as the result of an XLA FFI handler.
//
//   if (!x.ok()) return ToFfiError(x.status());    // jax raises it with this message
//   return ToFfiError(CopyInto(*y, *x));           // OK is success

#ifndef DOVETAIL_INTEROP_XLA_FFI_ERROR_H_
#define DOVETAIL_INTEROP_XLA_FFI_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "xla/ffi/api/ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_xla_ffi {

// Both enumerations have the numbers of the canonical codes.
constexpr bool Agree(absl::StatusCode code, xla::ffi::ErrorCode xla) {
  return static_cast<int>(code) == static_cast<int>(xla);
}
static_assert(Agree(absl::StatusCode::kOk, xla::ffi::ErrorCode::kOk));
static_assert(Agree(absl::StatusCode::kCancelled, xla::ffi::ErrorCode::kCancelled));
static_assert(Agree(absl::StatusCode::kUnknown, xla::ffi::ErrorCode::kUnknown));
static_assert(Agree(absl::StatusCode::kInvalidArgument, xla::ffi::ErrorCode::kInvalidArgument));
static_assert(Agree(absl::StatusCode::kDeadlineExceeded, xla::ffi::ErrorCode::kDeadlineExceeded));
static_assert(Agree(absl::StatusCode::kNotFound, xla::ffi::ErrorCode::kNotFound));
static_assert(Agree(absl::StatusCode::kAlreadyExists, xla::ffi::ErrorCode::kAlreadyExists));
static_assert(Agree(absl::StatusCode::kPermissionDenied, xla::ffi::ErrorCode::kPermissionDenied));
static_assert(Agree(absl::StatusCode::kResourceExhausted, xla::ffi::ErrorCode::kResourceExhausted));
static_assert(Agree(absl::StatusCode::kFailedPrecondition,
                    xla::ffi::ErrorCode::kFailedPrecondition));
static_assert(Agree(absl::StatusCode::kAborted, xla::ffi::ErrorCode::kAborted));
static_assert(Agree(absl::StatusCode::kOutOfRange, xla::ffi::ErrorCode::kOutOfRange));
static_assert(Agree(absl::StatusCode::kUnimplemented, xla::ffi::ErrorCode::kUnimplemented));
static_assert(Agree(absl::StatusCode::kInternal, xla::ffi::ErrorCode::kInternal));
static_assert(Agree(absl::StatusCode::kUnavailable, xla::ffi::ErrorCode::kUnavailable));
static_assert(Agree(absl::StatusCode::kDataLoss, xla::ffi::ErrorCode::kDataLoss));
static_assert(Agree(absl::StatusCode::kUnauthenticated, xla::ffi::ErrorCode::kUnauthenticated));

}  // namespace internal_xla_ffi

inline xla::ffi::Error ToFfiError(const absl::Status& status) {
  return {static_cast<xla::ffi::ErrorCode>(status.code()), std::string(status.message())};
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_XLA_FFI_ERROR_H_
