// Takes a tensor of tvm-ffi in, without a copy.
//
//   absl::StatusOr<Tensor> x = FromTvmFfi(tvm_tensor);               // holds a reference to it
//   absl::StatusOr<TensorView> v = ViewOf(tvm_view);                 // borrows, as tvm_view does
//   absl::StatusOr<Tensor> y = FromTvmFfi(gpu_tensor, {.stream = TvmFfiStream(device)});
//
// The tensor holds the object of tvm-ffi until its last reference is dropped, on any thread. It is
// writable, since tvm-ffi knows no read-only tensors; ReadOnly() narrows it. A tensor of AsTvmFfi
// (export.h) is unwrapped: the result shares the Storage of the original, and is read-only if that
// was.

#ifndef DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_
#define DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_

#include <tvm/ffi/container/tensor.h>

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/tvm_ffi/object.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct FromTvmFfiOptions {
  // The stream on which the tensor is being written or read, such as TvmFfiStream(device) of
  // stream.h. Later work on the memory waits for it. nullopt: nothing is ordered. Not for the CPU.
  std::optional<Stream> stream = {};
};

namespace internal_tvm_ffi {

// The tensor over the Storage that `object` holds. An error if the object was changed since its
// export and no longer lies in that Storage.
inline absl::StatusOr<Tensor> Unwrap(const StorageTensorObj& object) {
  const StorageRef& storage = object.storage();
  TensorView view;
  if (absl::Status s = FromDLTensor(object, &view); !s.ok()) return s;
  if (view.device != storage->device()) return absl::InvalidArgumentError("Another device");
  absl::StatusOr<Layout> layout = Layout::Strided(view.shape, view.strides);
  if (!layout.ok()) return layout.status();
  int64_t byte_offset = view.byte_offset;
  if (view.data != nullptr && IsAddressable(storage->device().type)) {
    byte_offset = static_cast<char*>(view.data) - static_cast<const char*>(storage->data());
  }
  return Tensor::Make(storage, byte_offset, view.dtype, *std::move(layout),
                      {.access = object.access()});
}

inline absl::StatusOr<Tensor> Hold(tvm::ffi::Tensor x) {
  absl::StatusOr<Tensor> tensor(std::in_place);
  const Release release = {&DropTvmFfiObject, ObjectUnsafe::RawObjectPtrFromObjectRef(x)};
  if (absl::Status s = ImportDLTensor(*x.GetDLTensorPtr(), /*flags=*/0, release, &*tensor); !s.ok())
      [[unlikely]] {
    return s;
  }
  ObjectUnsafe::MoveObjectRefToTVMFFIObjectPtr(std::move(x));  // the Storage has the reference
  return tensor;
}

}  // namespace internal_tvm_ffi

// InvalidArgument, with the reason, for an undefined tensor and one that is no valid DLPack tensor
// (interop/dlpack/parse.h).
inline absl::StatusOr<Tensor> FromTvmFfi(tvm::ffi::Tensor x,
                                         const FromTvmFfiOptions& options = {}) {
  if (!x.defined()) [[unlikely]] {
    return internal_interop::RefusalOf("tvm::ffi::Tensor", "it is undefined",
                                       "Pass a tensor with memory");
  }
  const internal_tvm_ffi::StorageTensorObj* ours = internal_tvm_ffi::StorageTensorObj::Of(x);
  absl::StatusOr<Tensor> tensor{Tensor()};
  if (ours != nullptr) tensor = internal_tvm_ffi::Unwrap(*ours);
  if (ours == nullptr || !tensor.ok()) {
    const Access access = ours == nullptr ? Access::kReadWrite : ours->access();
    tensor = internal_tvm_ffi::Hold(std::move(x));
    if (access == Access::kReadOnly && tensor.ok()) tensor = tensor->ReadOnly();
  }
  if (options.stream && tensor.ok()) tensor->storage()->RecordUse(*options.stream);
  return tensor;
}

// InvalidArgument as above, and for a view with dimensions but without strides (NULL). The result
// is valid as long as the memory, the shape and the strides that `view` points to.
inline absl::StatusOr<TensorView> ViewOf(const tvm::ffi::TensorView& view) {
  TVMFFIAny any;  // the only way to the DLTensor that does not throw for NULL strides
  tvm::ffi::TypeTraits<tvm::ffi::TensorView>::CopyToAnyView(view, &any);
  absl::StatusOr<TensorView> result{TensorView()};
  if (absl::Status s = FromDLTensor(*static_cast<const DLTensor*>(any.v_ptr), &*result); !s.ok())
    return s;
  return result;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_IMPORT_H_
