#include "dovetail/interop/ipc/slot_tensor.h"

#include <utility>

#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

absl::StatusOr<Tensor> NewInPool(SlotPool& pool, Layout layout, DType dtype, Packing packing,
                                 const AllocateOptions& options) {
  ByteRange bytes;
  if (absl::Status s = BytesReached(layout, dtype, packing, &bytes); !s.ok()) return s;
  StorageRef storage;
  if (bytes.size() == 0) {
    storage = Storage::Adopt(nullptr, 0, Device::Cpu(), {});
  } else {
    absl::StatusOr<SlotHold> slot = pool.Allocate(bytes.size(), options);
    if (!slot.ok()) return slot.status();
    absl::StatusOr<void*> data = slot->Data();
    if (!data.ok()) return data.status();
    storage = Storage::Adopt(*data, bytes.size(), Device::Cpu(),
                             {&SlotHold::Release, SlotHold::ToContext(*std::move(slot))});
  }
  return Tensor::Make(std::move(storage), 0, dtype, std::move(layout), {.packing = packing});
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
