// Hands a tensor out as one of tvm-ffi, without a copy.
//
//   absl::StatusOr<tvm::ffi::Tensor> x = AsTvmFfi(tensor);               // holds the memory
//   absl::StatusOr<tvm::ffi::TensorView> v = AsTvmFfiView(tensor);       // borrows it
//   absl::StatusOr<tvm::ffi::Tensor> y = AsTvmFfi(gpu_tensor, {.stream = stream});
//
// A tvm::ffi::Tensor keeps the memory until its last reference is dropped, on any thread. A
// tvm::ffi::TensorView points to the tensor's shape and strides: it is valid while the tensor is
// alive and unchanged. A writable tensor that came from tvm-ffi goes back as the same object.

#ifndef DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_
#define DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_

#include <tvm/ffi/container/tensor.h>

#include <optional>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dovetail/core/config.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/tvm_ffi/object.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct AsTvmFfiOptions {
  // The stream on which the tensor will be used, such as TvmFfiStream(device) of stream.h: it waits
  // for the work on the memory so far, and the memory is not reused before its own work is done.
  // nullopt: nothing is ordered. Not for the CPU.
  std::optional<Stream> stream = {};
  // Hands read-only memory out, too. A tensor of tvm-ffi cannot say that it is read-only: the
  // caller sees to it that nothing writes, as when it is the input of a function. FromTvmFfi makes
  // it read-only again, but not a view that tvm-ffi made of it.
  bool allow_read_only = false;
};

namespace internal_tvm_ffi {

inline absl::Status CheckForTvmFfi(const Tensor& tensor, absl::string_view target,
                                   const AsTvmFfiOptions& options) {
  using internal_interop::Refusal;
  if (tensor.is_null()) [[unlikely]]
    return Refusal(tensor, target, "", "Pass a tensor with memory");
  if (tensor.is_read_only() && !options.allow_read_only) [[unlikely]] {
    return Refusal(tensor, target, "it is read-only, and tvm-ffi has no read-only tensors",
                   "Pass Copied(tensor), or allow_read_only if nothing writes");
  }
  if (tensor.packing() == Packing::kPadded) [[unlikely]] {
    return Refusal(tensor, target, "each element has a byte, and tvm-ffi packs them",
                   "Pass Copied(tensor), which packs them, too");
  }
  if (options.stream) return tensor.storage()->Share(options.stream);
  return absl::OkStatus();
}

}  // namespace internal_tvm_ffi

// FailedPrecondition, with the remedy, for a tensor that is null, read-only (but see above) or has
// padded sub-byte elements. A backend that can't order the streams reports its own error.
inline absl::StatusOr<tvm::ffi::Tensor> AsTvmFfi(const Tensor& tensor,
                                                 const AsTvmFfiOptions& options = {}) {
  if (absl::Status s = internal_tvm_ffi::CheckForTvmFfi(tensor, "a tvm::ffi::Tensor", options);
      !s.ok()) [[unlikely]] {
    return s;
  }
  if (tvm::ffi::Tensor held = internal_tvm_ffi::HeldTvmFfiTensor(tensor); held.defined()) {
    return held;
  }
  return tvm::ffi::Tensor(tvm::ffi::make_object<internal_tvm_ffi::StorageTensorObj>(tensor));
}

// The same as a view, which counts nothing and allocates nothing.
inline absl::StatusOr<tvm::ffi::TensorView> AsTvmFfiView(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND, const AsTvmFfiOptions& options = {}) {
  if (absl::Status s = internal_tvm_ffi::CheckForTvmFfi(tensor, "a tvm::ffi::TensorView", options);
      !s.ok()) [[unlikely]] {
    return s;
  }
  const DLTensor borrowed = ToDLTensor(tensor.view());
  return tvm::ffi::TensorView(&borrowed);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_
