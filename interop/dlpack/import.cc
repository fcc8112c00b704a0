#include "dovetail/interop/dlpack/import.h"

#include <memory>
#include <utility>

#include "dovetail/interop/dlpack/export_block.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/validate.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// The producer's deleter as a Storage's release.
template <typename Managed>
void CallDeleter(void* managed) {
  DLPackDeleter()(static_cast<Managed*>(managed));
}

// Finishes with the Storage of a managed tensor of our own, if `checked` lies inside it. The block
// is freed.
template <typename Managed>
[[gnu::always_inline]] inline bool Unwrap(Managed* managed, const CheckedTensor& checked,
                                          TensorAssembly& tensor) {
  using Block = internal_dlpack::ExportBlock<Managed>;
  Block* block = Block::FromManaged(managed);
  StorageRef& storage = block->storage;
  int64_t byte_offset = checked.byte_offset;
  if (IsAddressable(checked.device.type) && tensor.layout().num_elements() != 0) {
    // Somebody may have edited the struct on its way: then it is no longer what we exported.
    const auto first = reinterpret_cast<uintptr_t>(checked.data);
    const auto base = reinterpret_cast<uintptr_t>(storage->data());
    if (first < base || first - base > storage->nbytes() ||
        checked.nbytes > storage->nbytes() - (first - base)) {
      return false;
    }
    byte_offset += static_cast<int64_t>(first - base);
  } else if (checked.data != storage->data() && checked.data != nullptr) {
    return false;
  }
  if (checked.device != storage->device()) return false;
  tensor.Finish(std::move(storage), byte_offset, checked.dtype, checked.options);
  Block::Free(block);
  return true;
}

// Takes ownership as its very last step.
template <typename Managed>
[[gnu::always_inline]] inline absl::Status Import(Managed* managed, uint64_t flags, Tensor* out) {
  TensorAssembly tensor(out);
  CheckedTensor checked;
  absl::Status status = Validate(managed->dl_tensor, flags, &checked, &tensor.layout());
  if (!status.ok()) return status;
  if (internal_dlpack::ExportBlock<Managed>::Owns(managed) && Unwrap(managed, checked, tensor)) {
    return absl::OkStatus();
  }
  StorageRef storage = Storage::Adopt(checked.data, checked.nbytes, checked.device,
                                      {.function = &CallDeleter<Managed>, .context = managed});
  tensor.Finish(std::move(storage), checked.byte_offset, checked.dtype, checked.options);
  return absl::OkStatus();
}

[[gnu::always_inline]] inline absl::Status Import(DLManagedTensorVersioned* managed, Tensor* out) {
  if (absl::Status s = ValidateVersion(managed->version); !s.ok()) {
    *out = Tensor();
    return s;
  }
  return Import(managed, managed->flags, out);
}

[[gnu::always_inline]] inline absl::Status Import(DLManagedTensor* managed, Tensor* out) {
  return Import(managed, /*flags=*/0, out);
}

template <typename Managed>
[[gnu::always_inline]] inline absl::StatusOr<Tensor> ImportOrDelete(Managed* managed) {
  std::unique_ptr<Managed, DLPackDeleter> owner(managed);  // where memory runs out, too
  absl::StatusOr<Tensor> tensor(std::in_place);            // one for all paths: it is never moved
  absl::Status status = Import(managed, &*tensor);
  if (status.ok()) {
    (void)owner.release();
  } else {
    tensor = std::move(status);
  }
  return tensor;
}

}  // namespace

absl::Status ImportDLPack(DLManagedTensorVersioned* managed, Tensor* tensor) {
  return Import(managed, tensor);
}

absl::Status ImportDLPack(DLManagedTensor* managed, Tensor* tensor) {
  return Import(managed, tensor);
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed) {
  return ImportOrDelete(managed);
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed) { return ImportOrDelete(managed); }

}  // namespace dovetail::inline DOVETAIL_ABI
