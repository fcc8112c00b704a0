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
using internal_trace::Traced;

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

// Whether `managed` is a struct that this library can read.
bool CanRead(const DLManagedTensorVersioned* managed) {
  return managed != nullptr && IsReadable(managed->version);
}
bool CanRead(const DLManagedTensor* managed) { return managed != nullptr; }

// Why it is not.
[[gnu::cold]] absl::Status UnreadableError(const DLManagedTensorVersioned* managed) {
  return managed == nullptr ? NoManagedError() : ValidateVersion(managed->version);
}
[[gnu::cold]] absl::Status UnreadableError(const DLManagedTensor*) { return NoManagedError(); }

uint64_t FlagsOf(const DLManagedTensorVersioned& managed) { return managed.flags; }
uint64_t FlagsOf(const DLManagedTensor&) { return 0; }

template <typename Managed>
absl::Status TakeOrRefuse(Managed* managed, void (*call_deleter)(void*), Tensor* tensor) {
  if (!CanRead(managed)) [[unlikely]] {
    *tensor = Tensor();
    return UnreadableError(managed);
  }
  const uint64_t flags = FlagsOf(*managed);
  const Defect defect = Take(managed, flags, call_deleter, tensor);
  return defect == Defect::kNone ? absl::OkStatus()
                                 : DefectError(defect, managed->dl_tensor, flags);
}

template <typename Managed>
[[gnu::always_inline]] inline absl::StatusOr<Tensor> TakeOrDelete(Managed* managed) {
  std::unique_ptr<Managed, DLPackDeleter> owner(managed);  // deletes on std::bad_alloc, too
  absl::StatusOr<Tensor> tensor(std::in_place);            // returned on all paths, so never moved
  const uint64_t flags = FlagsOf(*managed);
  const Defect defect = Take(managed, flags, &CallDeleter<Managed>, &*tensor);
  if (defect != Defect::kNone) [[unlikely]] {
    tensor = DefectError(defect, managed->dl_tensor, flags);
    return tensor;
  }
  (void)owner.release();
  return tensor;
}

template <typename Managed>
[[gnu::always_inline]] inline absl::Status Import(Managed* managed, void (*call_deleter)(void*),
                                                  Tensor* tensor) {
  return Traced(TraceKind::kImport, "DLPack", *tensor, /*copied=*/false,
                [=] { return TakeOrRefuse(managed, call_deleter, tensor); });
}

template <typename Managed>
[[gnu::always_inline]] inline absl::StatusOr<Tensor> From(Managed* managed) {
  const auto import = [=]() __attribute__((always_inline)) -> absl::StatusOr<Tensor> {
    if (!CanRead(managed)) [[unlikely]] {
      const std::unique_ptr<Managed, DLPackDeleter> owner(managed);
      return UnreadableError(managed);
    }
    return TakeOrDelete(managed);
  };
  return Traced(TraceKind::kImport, "DLPack", import);
}

}  // namespace

absl::Status ImportDLPack(DLManagedTensorVersioned* managed, void (*call_deleter)(void*),
                          Tensor* tensor) {
  return Import(managed, call_deleter, tensor);
}
absl::Status ImportDLPack(DLManagedTensor* managed, void (*call_deleter)(void*), Tensor* tensor) {
  return Import(managed, call_deleter, tensor);
}

absl::Status ImportDLPack(DLManagedTensorVersioned* managed, Tensor* tensor) {
  return Import(managed, &CallDeleter<DLManagedTensorVersioned>, tensor);
}
absl::Status ImportDLPack(DLManagedTensor* managed, Tensor* tensor) {
  return Import(managed, &CallDeleter<DLManagedTensor>, tensor);
}

absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed) { return From(managed); }

absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed) { return From(managed); }

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
