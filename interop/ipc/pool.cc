#include "dovetail/interop/ipc/pool.h"

#include <cstring>
#include <utility>

#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/storage.h"
#include "dovetail/interop/ipc/record.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

void LetGo(void* held) { delete static_cast<SlotHold*>(held); }

}  // namespace

absl::StatusOr<Pool> Pool::Create(const PoolOptions& options) {
  absl::StatusOr<std::shared_ptr<SlotPool>> slots = SlotPool::Create(options);
  if (!slots.ok()) return slots.status();
  return Pool(*std::move(slots));
}

absl::StatusOr<Pool> Pool::Open(std::string_view name) {
  SegmentName first;
  if (name.size() != sizeof first) {
    return absl::InvalidArgumentError("This is not the name of a pool.");
  }
  std::memcpy(&first, name.data(), sizeof first);
  absl::StatusOr<std::shared_ptr<SlotPool>> slots = SlotPool::Open(first);
  if (!slots.ok()) return slots.status();
  return Pool(*std::move(slots));
}

absl::StatusOr<Pool> Pool::Attach(int file) {
  absl::StatusOr<std::shared_ptr<SlotPool>> slots = SlotPool::Attach(file);
  if (!slots.ok()) return slots.status();
  return Pool(*std::move(slots));
}

std::string Pool::name() const {
  const SegmentName name = slots_->name();
  return std::string(reinterpret_cast<const char*>(&name), sizeof name);
}

absl::StatusOr<Tensor> Pool::Empty(absl::Span<const int64_t> shape, DType dtype,
                                   const AllocateOptions& options) const {
  absl::StatusOr<Layout> layout = Layout::Contiguous(shape);
  if (!layout.ok()) return layout.status();
  ByteRange bytes;
  if (absl::Status s = BytesReached(*layout, dtype, Packing::kPacked, &bytes); !s.ok()) return s;
  if (bytes.size() == 0) {
    return Tensor::Make(Storage::Adopt(nullptr, 0, Device::Cpu(), {}), 0, dtype, *std::move(layout),
                        {});
  }
  absl::StatusOr<SlotHold> slot = slots_->Allocate(bytes.size(), options);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data.status();
  StorageRef storage =
      Storage::Adopt(*data, bytes.size(), Device::Cpu(), {&LetGo, new SlotHold(*std::move(slot))});
  return Tensor::Make(std::move(storage), 0, dtype, *std::move(layout), {});
}

absl::StatusOr<std::string> Pool::Share(const Tensor& tensor, const ShareOptions& options) const {
  absl::StatusOr<Handle> handle = ipc::Share(tensor, options);
  if (!handle.ok()) return handle.status();
  if (handle->memory.empty()) return handle->ToBytes();  // no elements
  const SlotHold memory = SlotHold::FindAt(tensor.raw_data());
  if (!memory || !slots_->Contains(*memory.segment())) {
    return absl::FailedPreconditionError(
        "The tensor's memory is not of this pool. Share it by the pool that made it, or by "
        "dovetail.ipc.share (ipc::Share).");
  }
  return ToMessage(handle->ToBytes(), memory);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
