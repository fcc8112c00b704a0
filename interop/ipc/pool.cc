#include "dovetail/interop/ipc/pool.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/interop/ipc/record.h"
#include "dovetail/interop/ipc/slot_tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
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
  if (!slots.ok()) {
    return absl::Status(slots.status().code(),
                        absl::StrCat("The pool can't be opened. ", slots.status().message()));
  }
  return Pool(*std::move(slots));
}

absl::StatusOr<Pool> Pool::Attach(int file) {
  absl::StatusOr<std::shared_ptr<SlotPool>> slots = SlotPool::Attach(file);
  if (!slots.ok()) return slots.status();
  return Pool(*std::move(slots));
}

std::string Pool::name() const {
  if (slots_->is_anonymous()) return "";
  const SegmentName name = slots_->name();
  return std::string(reinterpret_cast<const char*>(&name), sizeof name);
}

int Pool::file() const { return slots_->file(); }
absl::StatusOr<PoolStats> Pool::Stats() const { return slots_->Stats(); }
absl::StatusOr<uint64_t> Pool::Reclaim() const { return slots_->Reclaim(); }

absl::StatusOr<Tensor> Pool::Empty(absl::Span<const int64_t> shape, DType dtype,
                                   const AllocateOptions& options) const {
  absl::StatusOr<Layout> layout = Layout::Contiguous(shape);
  if (!layout.ok()) return layout.status();
  return NewInPool(*slots_, *std::move(layout), dtype, Packing::kPacked, options);
}

namespace {

// A message that keeps the memory until it has been opened `opens` times.
absl::StatusOr<std::string> KeepingMessage(Handle& handle, const SlotHold& memory, uint32_t opens) {
  absl::StatusOr<SlotName> name = SlotName::FromBytes(handle.memory);
  if (!name.ok()) return name.status();
  absl::StatusOr<SlotName> kept = memory.AddMessages(opens);
  if (!kept.ok()) return kept.status();
  kept->read_only = name->read_only;
  handle.memory = kept->ToBytes();
  absl::StatusOr<std::string> message = ToMessage(handle.ToBytes(), memory, opens);
  if (!message.ok()) memory.TakeMessages(*kept, opens);
  return message;
}

}  // namespace

absl::StatusOr<std::string> Pool::Share(const Tensor& tensor, const MessageOptions& options) const {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  static_assert(kMostOpens == kMostMessages);
  if (options.opens > kMostOpens) {
    return absl::InvalidArgumentError(absl::StrCat(
        "opens is how often the message is opened, at most ", kMostOpens, "; got ", options.opens));
  }
  const bool has_memory = tensor.num_elements() != 0 && tensor.device() == Device::Cpu();
  const SlotHold memory = has_memory ? SlotHold::FindAt(tensor.raw_data()) : SlotHold();
  if (tensor.num_elements() != 0 && (!memory || !slots_->Contains(*memory.segment()))) {
    return absl::FailedPreconditionError(
        "The tensor's memory is not of this pool: make it by the pool's empty(), or copy it into such "
        "a tensor. A tensor of another pool is shared by that one.");
  }
  absl::StatusOr<Handle> handle = ipc::Share(tensor, {.read_only = options.read_only});
  if (!handle.ok()) return handle.status();
  if (memory && options.opens != 0) return KeepingMessage(*handle, memory, options.opens);
  if (memory) return ToMessage(handle->ToBytes(), memory);
  // Without elements, there is no place for a long layout, and strides mean nothing.
  std::string bytes = handle->ToBytes();
  if (bytes.size() <= kMostMessageBytes) return bytes;
  absl::StatusOr<Layout> row_major = Layout::Contiguous(handle->layout.shape());
  if (!row_major.ok()) return row_major.status();
  handle->layout = *std::move(row_major);
  bytes = handle->ToBytes();
  if (bytes.size() <= kMostMessageBytes) return bytes;
  return absl::FailedPreconditionError(absl::StrCat("A tensor without elements and with ",
                                                    handle->layout.rank(),
                                                    " dimensions is too long for a message."));
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
