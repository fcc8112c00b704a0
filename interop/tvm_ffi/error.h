// Errors of tvm-ffi as absl::Status, and the reverse.
//
//   absl::StatusOr<TensorView> v = ViewOf(view);
//   if (!v.ok()) throw ToTvmFfiError(v.status());    // in a function that tvm-ffi calls
//
//   try { f(x); } catch (const tvm::ffi::Error& e) { return StatusOf(e); }
//
// In Python, tvm-ffi raises the exception that the kind of the error names. The functions of the
// door itself throw nothing but std::bad_alloc.

#ifndef DOVETAIL_INTEROP_TVM_FFI_ERROR_H_
#define DOVETAIL_INTEROP_TVM_FFI_ERROR_H_

#include <tvm/ffi/error.h>

#include <string>

#include "absl/status/status.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tvm_ffi {

// The first pair of a code or a kind decides. tvm-ffi makes a RuntimeError of other kinds in
// Python.
struct ErrorPair {
  absl::StatusCode code;
  const char* kind;
};
DOVETAIL_NOT_SHARED inline constexpr ErrorPair kErrors[] = {
    {absl::StatusCode::kInvalidArgument, "ValueError"},
    {absl::StatusCode::kInvalidArgument, "TypeError"},
    {absl::StatusCode::kOutOfRange, "IndexError"},
    {absl::StatusCode::kNotFound, "KeyError"},
    {absl::StatusCode::kFailedPrecondition, "ValueError"},
    {absl::StatusCode::kResourceExhausted, "MemoryError"},
    {absl::StatusCode::kInternal, "InternalError"},
    {absl::StatusCode::kUnknown, "RuntimeError"},
};

}  // namespace internal_tvm_ffi

// The status has the error's message; kUnknown for a kind without a code.
inline absl::Status StatusOf(const tvm::ffi::Error& error) {
  for (const auto& pair : internal_tvm_ffi::kErrors) {
    if (error.kind() == pair.kind) return absl::Status(pair.code, error.message());
  }
  return absl::UnknownError(error.message());
}

// To be thrown. "RuntimeError" for a code without a kind. `status` is not OK.
inline tvm::ffi::Error ToTvmFfiError(const absl::Status& status) {
  const std::string message(status.message());
  for (const auto& pair : internal_tvm_ffi::kErrors) {
    if (status.code() == pair.code) return tvm::ffi::Error(pair.kind, message, /*backtrace=*/"");
  }
  return tvm::ffi::Error("RuntimeError", message, /*backtrace=*/"");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_ERROR_H_
