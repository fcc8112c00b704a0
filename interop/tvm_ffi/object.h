// How an object of tvm-ffi holds a Storage, and how a Storage holds an object of tvm-ffi.

#ifndef DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_
#define DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/memory.h>
#include <tvm/ffi/object.h>

#include <algorithm>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/interop/dlpack/view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tvm_ffi {

using tvm::ffi::detail::ObjectUnsafe;

// A tensor of tvm-ffi over the memory of a Tensor, in one allocation. tvm::ffi::make_object makes
// it. Its shape and strides are those of its own copy of the layout.
class StorageTensorObj final : public tvm::ffi::TensorObj {
 public:
  explicit StorageTensorObj(const Tensor& tensor)
      : storage_(tensor.storage()), layout_(tensor.layout()), access_(tensor.access()) {
    TensorView view = tensor.view();
    view.shape = layout_.shape();
    view.strides = layout_.strides();
    static_cast<DLTensor&>(*this) = ToDLTensor(view);
  }

  const StorageRef& storage() const { return storage_; }
  // Of the tensor. Nothing in tvm-ffi can say it.
  Access access() const { return access_; }

  // `x`, if this class made it; else nullptr. `x` is defined.
  static const StorageTensorObj* Of(const tvm::ffi::Tensor& x) {
    using Handler = tvm::ffi::detail::SimpleObjAllocator::Handler<StorageTensorObj>;
    const bool ours = ObjectUnsafe::TVMFFIObjectPtrFromObjectRef(x)->deleter == Handler::Deleter();
    return ours ? static_cast<const StorageTensorObj*>(
                      static_cast<const tvm::ffi::TensorObj*>(x.GetDLTensorPtr()))
                : nullptr;
  }

 private:
  StorageRef storage_;
  Layout layout_;
  Access access_;
};

// Releases a Storage that holds a tensor of tvm-ffi.
inline void DropTvmFfiObject(void* held) noexcept { ObjectUnsafe::DecRefObjectHandle(held); }

// Whether two tensors of one Storage are the same, with strides that are not NULL.
inline bool SameTensor(const DLTensor& a, const DLTensor& b) {
  if (a.data != b.data || a.byte_offset != b.byte_offset || a.ndim != b.ndim ||
      ToDType(a.dtype) != ToDType(b.dtype)) {
    return false;
  }
  if (a.ndim == 0) return true;
  return a.strides != nullptr && b.strides != nullptr &&
         std::equal(a.shape, a.shape + a.ndim, b.shape) &&
         std::equal(a.strides, a.strides + a.ndim, b.strides);
}

// The tensor of tvm-ffi that `tensor` holds; undefined if it holds none, is a view of it, or is
// read-only, which that tensor could not tell.
inline tvm::ffi::Tensor HeldTvmFfiTensor(const Tensor& tensor) {
  const Release release = tensor.storage()->release();
  if (release.function != &DropTvmFfiObject || tensor.is_read_only()) return tvm::ffi::Tensor();
  tvm::ffi::Tensor held(ObjectUnsafe::ObjectPtrFromUnowned<tvm::ffi::TensorObj>(
      static_cast<TVMFFIObject*>(release.context)));
  const bool same = SameTensor(*held.GetDLTensorPtr(), ToDLTensor(tensor.view()));
  return same ? held : tvm::ffi::Tensor();
}

}  // namespace internal_tvm_ffi
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TVM_FFI_OBJECT_H_
