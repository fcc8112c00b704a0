// CPU memory that other processes can open: slots of this process's pool (core/ipc/slot_pool.h).
//
// Memory is found by its address, so that tensors which other libraries made of it can be shared
// too, whichever pool it is of. Any thread.

#include <atomic>
#include <cstdint>
#include <utility>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/devices/cpu/parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using ipc::SlotHold;
using ipc::SlotName;
using ipc::SlotPool;

// Segments of which nothing is used stay for later allocations, up to so many bytes of all.
constexpr size_t kMostIdleBytes = size_t{256} << 20;

class SharedAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
  absl::Status Trim(size_t keep_bytes) override {
    ipc::Segment::Forget();
    SlotPool::TrimOfProcess(keep_bytes);
    return absl::OkStatus();
  }
  AllocatorStats Stats() override;

 private:
  std::atomic<int64_t> allocated_ = 0, peak_ = 0, allocations_ = 0;
};

absl::StatusOr<void*> SharedAllocator::Allocate(size_t nbytes, const Stream&) {
  if (nbytes == 0) return nullptr;
  absl::StatusOr<SlotHold> slot = SlotPool::OfProcess().Allocate(nbytes);
  if (!slot.ok()) return slot.status();
  absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data;
  SlotHold::Keep(*std::move(slot));
  const auto bytes = static_cast<int64_t>(nbytes);
  RaisePeak(peak_, allocated_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void SharedAllocator::Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses>) noexcept {
  if (data == nullptr) return;
  allocated_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
  SlotHold::TakeKept(data);
  if (SlotPool::OfProcess().reserved_bytes() > kMostIdleBytes) {
    SlotPool::TrimOfProcess(kMostIdleBytes);
  }
}

AllocatorStats SharedAllocator::Stats() {
  return {.allocated_bytes = allocated_.load(std::memory_order_relaxed),
          .peak_bytes = peak_.load(std::memory_order_relaxed),
          .reserved_bytes = static_cast<int64_t>(SlotPool::OfProcess().reserved_bytes()),
          .allocations = allocations_.load(std::memory_order_relaxed)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Allocator>> MakeSharedAllocator() {
  return std::make_unique<SharedAllocator>();
}

absl::StatusOr<MemoryShare> ShareMemory(void* data, size_t nbytes) {
  absl::Status ordinary = absl::FailedPreconditionError(
      "The tensor lies in memory of this process alone, which no other can open. Make it in shared "
      "memory (dovetail.ipc.empty in Python, ipc::Empty in C++), or ask for a copy there "
      "(share(tensor, copy=True), ipc::CopyToShared).");
  const SlotHold slot = SlotHold::FindAt(data);
  if (!slot) return ordinary;
  const absl::StatusOr<void*> start = slot.Data();
  if (!start.ok()) return start.status();
  const auto offset = static_cast<char*>(data) - static_cast<char*>(*start);
  if (nbytes > slot.nbytes() - static_cast<size_t>(offset)) return ordinary;
  return MemoryShare{.name = slot.name().ToBytes(), .offset = offset};
}

absl::StatusOr<OpenedMemory> OpenMemory(std::string_view bytes) {
  absl::StatusOr<SlotName> name = SlotName::FromBytes(bytes);
  if (!name.ok()) return name.status();
  absl::StatusOr<SlotHold> slot = SlotHold::Open(*name);
  if (!slot.ok()) return slot.status();
  const absl::StatusOr<void*> data = slot->Data();
  if (!data.ok()) return data.status();
  slot->TakeMessages(*name);
  const size_t nbytes = slot->nbytes();
  return OpenedMemory{.data = *data,
                      .nbytes = nbytes,
                      .device = Device::Cpu(),
                      .release = {&SlotHold::Release, SlotHold::ToContext(*std::move(slot))}};
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
