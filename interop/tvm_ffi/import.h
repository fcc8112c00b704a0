// Takes tensors of tvm-ffi in, without a copy.
//
//   absl::StatusOr<Tensor> x = FromTvmFfi(tvm_tensor);             // holds the object
//   absl::StatusOr<TensorView> v = AsTensorView(tvm_tensor_view);  // borrows, as in a function's
//                                                                  // arguments
//
// The tensor is writable; ReadOnly() narrows it. Any thread may drop it. Nothing is ordered on
// GPUs: tvm-ffi's functions work on TVMFFIEnvGetStream(device).

#ifndef DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_
#define DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>

#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/tvm_ffi/object.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// InvalidArgument for an undefined tensor and for what DLPack's rules refuse (validate.h). On an
// error nothing is held.
inline absl::StatusOr<Tensor> FromTvmFfi(tvm::ffi::Tensor x) {
  if (!x.defined()) {
    return internal_interop::RefusalOf("tvm::ffi::Tensor", "it is undefined",
                                       "Pass a tensor with memory");
  }
  using internal_tvm_ffi::ObjectUnsafe;
  const DLTensor lent = *x.GetDLTensorPtr();
  TVMFFIObject* const held = ObjectUnsafe::MoveObjectRefToTVMFFIObjectPtr(std::move(x));
  absl::StatusOr<Tensor> tensor{Tensor()};
  if (absl::Status s =
          ImportDLTensor(lent, /*flags=*/0, {&internal_tvm_ffi::DropObject, held}, &*tensor);
      !s.ok()) {
    internal_tvm_ffi::DropObject(held);
    return s;
  }
  return tensor;
}

// Valid as long as the memory, the shape and the strides that `x` borrows. InvalidArgument as above
// and for a view without strides.
inline absl::StatusOr<TensorView> AsTensorView(
    const tvm::ffi::TensorView& x ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  try {
    DLTensor lent{};
    lent.data = x.data_ptr();
    lent.device = x.device();
    lent.ndim = x.ndim();
    lent.dtype = x.dtype();
    lent.shape = const_cast<int64_t*>(x.shape().data());
    lent.strides = const_cast<int64_t*>(x.strides().data());
    lent.byte_offset = x.byte_offset();
    return FromDLTensor(lent);
  } catch (const tvm::ffi::Error& error) {
    return internal_interop::RefusalOf("tvm::ffi::TensorView", error.message(),
                                       "Pass a tvm::ffi::Tensor, which has strides");
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_
