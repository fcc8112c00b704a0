#include "dovetail/interop/ipc/share.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/interop/ipc/slot_tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

absl::StatusOr<Tensor> NewShared(Layout layout, DType dtype, Packing packing, Device device) {
  ByteRange bytes;
  if (absl::Status s = BytesReached(layout, dtype, packing, &bytes); !s.ok()) return s;
  absl::StatusOr<StorageRef> storage = Storage::Allocate(bytes.size(), device, MemoryKind::kShared);
  if (!storage.ok()) return storage.status();
  return Tensor::Make(*std::move(storage), 0, dtype, std::move(layout), {.packing = packing});
}

// Makes the handle one of memory that the opener can't write.
absl::Status MakeReadOnly(Handle& handle) {
  if (handle.device.type != DeviceType::kCpu) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Memory of ", handle.device.ToString(),
        " can't be shared read-only: only the CPU has mappings that can't be written."));
  }
  absl::StatusOr<SlotName> name = SlotName::FromBytes(handle.memory);
  if (!name.ok()) return name.status();
  name->read_only = true;
  handle.memory = name->ToBytes();
  return absl::OkStatus();
}

absl::StatusOr<Handle> ShareMemory(const Tensor& tensor, const ShareOptions& options) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  Handle handle{.device = tensor.device(),
                .dtype = tensor.dtype(),
                .options = {.access = tensor.access(), .packing = tensor.packing()},
                .layout = tensor.layout()};
  if (options.read_only) handle.options.access = Access::kReadOnly;
  if (tensor.num_elements() == 0) return handle;
  absl::StatusOr<DeviceBackend*> backend = BackendFor(tensor.device());
  if (!backend.ok()) return backend.status();
  Storage& storage = *tensor.storage();
  const Stream stream = CurrentStream(tensor.device());
  if (absl::Status s = storage.OrderBefore(stream); !s.ok()) return s;
  absl::StatusOr<MemoryShare> share = (*backend)->ShareMemory(
      tensor.device(), storage.data(), storage.nbytes(), storage.uses(), stream);
  if (!share.ok()) return share.status();
  if (share->until) storage.RecordUse(*std::move(share->until));
  handle.memory = std::move(share->name);
  if (__builtin_add_overflow(tensor.byte_offset(), share->offset, &handle.byte_offset)) {
    return absl::InternalError("The tensor's offset is beyond the address space.");
  }
  if (options.read_only) {
    if (absl::Status s = MakeReadOnly(handle); !s.ok()) return s;
  }
  return handle;
}

}  // namespace

absl::StatusOr<Handle> Share(const Tensor& tensor, const ShareOptions& options) {
  return internal_trace::Traced(TraceKind::kExport, "IPC handle", tensor, /*copied=*/false,
                                [&] { return ShareMemory(tensor, options); });
}

absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype, Device device,
                             const EmptyOptions& options) {
  absl::StatusOr<Layout> layout = Layout::Contiguous(shape);
  if (!layout.ok()) return layout.status();
  if (options.isolated) {
    if (device == Device::Cpu()) {
      return NewInPool(SlotPool::OfProcess(), *std::move(layout), dtype, Packing::kPacked,
                       {.isolated = true});
    }
    return absl::InvalidArgumentError(
        absl::StrCat("Only memory of the CPU can be isolated, not that of ", device.ToString(),
                     ": the driver decides what a GPU's handle opens."));
  }
  return NewShared(*std::move(layout), dtype, Packing::kPacked, device);
}

absl::StatusOr<Tensor> CopyToShared(const Tensor& tensor) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  if (absl::Status s = NoCopiesScope::Check(); !s.ok()) return s;
  const DeviceType type = tensor.device().type;
  const Device device = IsHostAccessible(type) ? Device::Cpu() : tensor.device();
  absl::StatusOr<Layout> layout = Layout::Contiguous(tensor.shape());
  if (!layout.ok()) return layout.status();
  absl::StatusOr<Tensor> copy =
      NewShared(*std::move(layout), tensor.dtype(), tensor.packing(), device);
  if (!copy.ok()) return copy;
  if (absl::Status s = CopyInto(*copy, tensor); !s.ok()) return s;
  return copy;
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
