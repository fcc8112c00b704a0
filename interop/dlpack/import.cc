#include "dovetail/interop/dlpack/import.h"

#include <memory>
#include <utility>

#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/interop/dlpack/export_block.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/validate.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
using internal_dlpack::CallDeleter;
using internal_storage::StorageAccess;
using internal_tensor::TensorBuilder;

namespace {

[[gnu::cold]] absl::Status NoManagedError() {
  return absl::InvalidArgumentError("The managed tensor to import is nullptr.");
}

// Finishes the tensor over the Storage of a managed tensor that this library exported, and frees
// the block. False, with nothing taken, if `checked` does not lie inside that Storage.
template <typename Managed>
[[gnu::always_inline]] inline bool Unwrap(Managed* managed, const CheckedTensor& checked,
                                          TensorBuilder& tensor) {
  using Block = internal_dlpack::ExportBlock<Managed>;
  Block* block = Block::FromManaged(managed);
  StorageRef& storage = block->storage;
  int64_t byte_offset = checked.byte_offset;
  if (IsAddressable(checked.device.type) && tensor.layout()->num_elements() != 0) {
    // Another library may have edited the struct since its export.
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

// Takes ownership in its last step, if there is no defect. (It returns a Defect, and its callers
// make the Status: making one here would keep the tensor's fields live across the call.)
template <typename Managed>
[[gnu::always_inline]] inline Defect Take(Managed* managed, uint64_t flags,
                                          void (*call_deleter)(void*), Tensor* out) {
  TensorBuilder tensor(out);
  return FindDefect(
      managed->dl_tensor, flags, tensor.layout(),
      [=](const CheckedTensor& checked) __attribute__((always_inline)) {
        TensorBuilder made = TensorBuilder::OfNull(out);
        if (internal_dlpack::ExportBlock<Managed>::Owns(managed) &&
            Unwrap(managed, checked, made)) {
          return;
        }
        StorageRef storage = StorageAccess::Adopt(checked.data, checked.nbytes, checked.device,
                                                  {.function = call_deleter, .context = managed});
        made.Finish(std::move(storage), checked.byte_offset, checked.dtype, checked.options);
      });
}

template <typename Managed>
absl::Status Import(Managed* managed, uint64_t flags, void (*call_deleter)(void*), Tensor* out) {
  const Defect defect = Take(managed, flags, call_deleter, out);
  return defect == Defect::kNone ? absl::OkStatus()
                                 : DefectError(defect, managed->dl_tensor, flags);
}

template <typename Managed>
[[gnu::always_inline]] inline absl::StatusOr<Tensor> TakeOrDelete(Managed* managed,
                                                                  uint64_t flags) {
  std::unique_ptr<Managed, DLPackDeleter> owner(managed);  // deletes on std::bad_alloc, too
  absl::StatusOr<Tensor> tensor(std::in_place);            // returned on all paths, so never moved
  const Defect defect = Take(managed, flags, &CallDeleter<Managed>, &*tensor);
  if (defect != Defect::kNone) [[unlikely]] {
    tensor = DefectError(defect, managed->dl_tensor, flags);
    return tensor;
  }
  (void)owner.release();
  return tensor;
}

}  // namespace

namespace {

// Calls `import`, which fills `tensor`, and tells a trace of it.
template <typename Import>
[[gnu::noinline, gnu::cold]] absl::Status Told(Tensor* tensor, Import import) {
  return internal_trace::TellOfImport("DLPack",
                                      [&]() -> absl::StatusOr<Tensor> {
                                        if (absl::Status s = import(); !s.ok()) return s;
                                        return *tensor;
                                      })
      .status();
}

absl::Status UntoldImport(DLManagedTensorVersioned* managed, void (*call_deleter)(void*),
                          Tensor* tensor) {
  if (managed == nullptr) {
    *tensor = Tensor();
    return NoManagedError();
  }
  if (absl::Status s = ValidateVersion(managed->version); !s.ok()) {
    *tensor = Tensor();
    return s;
  }
  return Import(managed, managed->flags, call_deleter, tensor);
}

absl::Status UntoldImport(DLManagedTensor* managed, void (*call_deleter)(void*), Tensor* tensor) {
  if (managed == nullptr) {
    *tensor = Tensor();
    return NoManagedError();
  }
  return Import(managed, /*flags=*/0, call_deleter, tensor);
}

template <typename Managed>
[[gnu::always_inline]] inline absl::Status ImportWith(Managed* managed, void (*call_deleter)(void*),
                                                      Tensor* tensor) {
  const auto import = [&] { return UntoldImport(managed, call_deleter, tensor); };
  return internal_trace::IsObserved() ? Told(tensor, import) : import();
}

[[gnu::always_inline]] inline absl::StatusOr<Tensor> UntoldFrom(DLManagedTensorVersioned* managed) {
  if (managed == nullptr) [[unlikely]]
    return NoManagedError();
  if (!IsReadable(managed->version)) [[unlikely]] {
    const std::unique_ptr<DLManagedTensorVersioned, DLPackDeleter> owner(managed);
    return ValidateVersion(managed->version);
  }
  return TakeOrDelete(managed, managed->flags);
}

[[gnu::always_inline]] inline absl::StatusOr<Tensor> UntoldFrom(DLManagedTensor* managed) {
  if (managed == nullptr) [[unlikely]]
    return NoManagedError();
  return TakeOrDelete(managed, /*flags=*/0);
}

// A function of its own: in the caller it would cost the untraced import registers.
template <typename Managed>
[[gnu::noinline, gnu::cold]] absl::StatusOr<Tensor> ToldFrom(Managed* managed) {
  return internal_trace::TellOfImport("DLPack", [&] { return UntoldFrom(managed); });
}

}  // namespace

absl::Status ImportDLPack(DLManagedTensorVersioned* managed, void (*call_deleter)(void*),
                          Tensor* tensor) {
  return ImportWith(managed, call_deleter, tensor);
}
absl::Status ImportDLPack(DLManagedTensor* managed, void (*call_deleter)(void*), Tensor* tensor) {
  return ImportWith(managed, call_deleter, tensor);
}

absl::Status ImportDLPack(DLManagedTensorVersioned* managed, Tensor* tensor) {
  return ImportWith(managed, &CallDeleter<DLManagedTensorVersioned>, tensor);
}
absl::Status ImportDLPack(DLManagedTensor* managed, Tensor* tensor) {
  return ImportWith(managed, &CallDeleter<DLManagedTensor>, tensor);
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed) {
  if (internal_trace::IsObserved()) [[unlikely]]
    return ToldFrom(managed);
  return UntoldFrom(managed);
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed) {
  if (internal_trace::IsObserved()) [[unlikely]]
    return ToldFrom(managed);
  return UntoldFrom(managed);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
