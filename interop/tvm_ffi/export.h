// Hands a tensor out as a tvm::ffi::Tensor or TensorView, without a copy.
//
//   absl::StatusOr<tvm::ffi::Tensor> x = AsTvmFfi(tensor);          // keeps the memory alive
//   absl::StatusOr<tvm::ffi::TensorView> v = AsTvmFfiView(tensor);  // valid while `tensor` is
//
// Any thread may drop the tvm::ffi::Tensor. A tensor that came from tvm-ffi goes back as the same
// object, unless a view changed it.

#ifndef DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_
#define DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_

#include <tvm/ffi/container/tensor.h>

#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/tvm_ffi/object.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct AsTvmFfiOptions {
  // The stream on which the consumer will use the tensor, as in ExportOptions.
  std::optional<Stream> stream;
  // Hands read-only memory out, too. tvm-ffi has no read-only tensors: the caller sees to it that
  // nothing writes.
  bool allow_read_only = false;
};

namespace internal_tvm_ffi {

// FailedPrecondition, with the remedy, for what tvm-ffi's tensors cannot say.
inline absl::Status Check(const Tensor& tensor, bool allow_read_only) {
  constexpr char kTarget[] = "a tensor of tvm-ffi";
  if (tensor.is_null()) {
    return internal_interop::Refusal(tensor, kTarget, "", "Pass a tensor with memory");
  }
  if (tensor.is_read_only() && !allow_read_only) {
    return internal_interop::Refusal(tensor, kTarget,
                                     "it is read-only, and tvm-ffi has no read-only tensors",
                                     "Pass Copied(tensor), or allow_read_only if nothing writes");
  }
  if (tensor.packing() != Packing::kPacked) {
    return internal_interop::Refusal(tensor, kTarget, "each of its sub-byte elements has a byte",
                                     "Pass Copied(tensor)");
  }
  return absl::OkStatus();
}

}  // namespace internal_tvm_ffi

// FailedPrecondition for a tensor that is null, read-only (but see above) or has padded sub-byte
// elements.
inline absl::StatusOr<tvm::ffi::Tensor> AsTvmFfi(const Tensor& tensor,
                                                 const AsTvmFfiOptions& options = {}) {
  if (absl::Status s = internal_tvm_ffi::Check(tensor, options.allow_read_only); !s.ok()) return s;
  if (options.stream) {
    if (absl::Status s = tensor.storage()->Share(options.stream); !s.ok()) return s;
  }
  if (const tvm::ffi::TensorObj* object = internal_tvm_ffi::SameObject(tensor)) {
    return internal_tvm_ffi::ToTensor(object);
  }
  return tvm::ffi::Tensor::FromDLPackVersioned(ToDLPackUnordered(tensor).release());
}

// Borrows `tensor`: its shape and strides, too. The errors of AsTvmFfi.
inline absl::StatusOr<tvm::ffi::TensorView> AsTvmFfiView(
    const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND, bool allow_read_only = false) {
  if (absl::Status s = internal_tvm_ffi::Check(tensor, allow_read_only); !s.ok()) return s;
  const DLTensor lent = ToDLTensor(tensor.view());
  return tvm::ffi::TensorView(&lent);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_EXPORT_H_
