// How a Tensor holds an object of tvm-ffi.

#ifndef DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_
#define DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_

#include <tvm/ffi/container/tensor.h>

#include <algorithm>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tvm_ffi {

using ObjectUnsafe = tvm::ffi::detail::ObjectUnsafe;

inline void DropObject(void* held) {
  ObjectUnsafe::DecRefObjectHandle(static_cast<TVMFFIObject*>(held));
}

// A reference to `object` of its own.
inline tvm::ffi::Tensor ToTensor(const tvm::ffi::TensorObj* object) {
  return tvm::ffi::Tensor(ObjectUnsafe::ObjectPtrFromUnowned<tvm::ffi::TensorObj>(
      const_cast<tvm::ffi::TensorObj*>(object)));
}

// The object from which `tensor` came, if it describes the same elements; otherwise nullptr.
inline const tvm::ffi::TensorObj* SameObject(const Tensor& tensor) {
  const Release release = tensor.storage()->release();
  if (release.function != &DropObject) return nullptr;
  const auto* object = ObjectUnsafe::RawObjectPtrFromUnowned<tvm::ffi::TensorObj>(
      static_cast<TVMFFIObject*>(release.context));
  const DLTensor ours = ToDLTensor(tensor.view());
  const bool is_same = ours.data == object->data && ours.byte_offset == object->byte_offset &&
                       ours.ndim == object->ndim && ours.dtype.code == object->dtype.code &&
                       ours.dtype.bits == object->dtype.bits &&
                       ours.dtype.lanes == object->dtype.lanes &&
                       std::equal(ours.shape, ours.shape + ours.ndim, object->shape) &&
                       std::equal(ours.strides, ours.strides + ours.ndim, object->strides);
  return is_same ? object : nullptr;
}

}  // namespace internal_tvm_ffi
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_
