// CPU memory that other processes can open: segments in /dev/shm (core/ipc/segment.h).
//
// Each allocation is a file until it is deallocated. A process that opened it before then keeps the
// memory; opening it later fails. Segments are found by address, so that tensors which other
// libraries made of such memory can be shared too. Any thread.

#include <atomic>
#include <cstdint>
#include <utility>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/devices/cpu/parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

using ipc::Segment;
using ipc::SegmentKind;
using ipc::SegmentName;

// A reference as the context pointer of a release callback.
void* Hold(std::shared_ptr<Segment> segment) {
  return new std::shared_ptr<Segment>(std::move(segment));
}
void LetGo(void* held) { delete static_cast<std::shared_ptr<Segment>*>(held); }

// New memory is all zeros.
class SharedAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
  AllocatorStats Stats() override;

 private:
  std::atomic<int64_t> allocated_ = 0, peak_ = 0, allocations_ = 0;
};

absl::StatusOr<void*> SharedAllocator::Allocate(size_t nbytes, const Stream&) {
  if (nbytes == 0) return nullptr;
  absl::StatusOr<std::shared_ptr<Segment>> segment =
      Segment::Create(SegmentKind::kHostMemory, nbytes);
  if (!segment.ok()) return segment.status();
  void* data = (*segment)->data();
  (*segment)->Keep(*segment);
  const auto bytes = static_cast<int64_t>(nbytes);
  RaisePeak(peak_, allocated_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void SharedAllocator::Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses>) noexcept {
  if (data == nullptr) return;
  allocated_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
  if (std::shared_ptr<Segment> segment = Segment::FindAt(data)) segment->Keep(nullptr);
}

AllocatorStats SharedAllocator::Stats() {
  const int64_t allocated = allocated_.load(std::memory_order_relaxed);
  return {.allocated_bytes = allocated,
          .peak_bytes = peak_.load(std::memory_order_relaxed),
          .reserved_bytes = allocated,
          .allocations = allocations_.load(std::memory_order_relaxed)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Allocator>> MakeSharedAllocator() {
  return std::make_unique<SharedAllocator>();
}

absl::StatusOr<MemoryShare> ShareMemory(void* data, size_t nbytes) {
  const std::shared_ptr<Segment> segment = Segment::FindAt(data);
  const int64_t offset =
      segment == nullptr ? 0 : static_cast<char*>(data) - static_cast<char*>(segment->data());
  if (segment == nullptr || nbytes > segment->nbytes() - static_cast<size_t>(offset)) {
    return absl::FailedPreconditionError(
        "The tensor lies in memory of this process alone, which no other can open. Make it in "
        "shared memory (dovetail.ipc.empty in Python, ipc::Empty in C++), or ask for a copy there "
        "(share(tensor, copy=True), ipc::CopyToShared).");
  }
  if (!segment->can_be_opened()) {
    return absl::FailedPreconditionError(
        "The process that made the shared memory has released it, so that no other can open it; it "
        "stays as it is here. Ask for a copy (share(tensor, copy=True), ipc::CopyToShared).");
  }
  return MemoryShare{.name = segment->name().ToBytes(), .offset = offset};
}

absl::StatusOr<OpenedMemory> OpenMemory(std::string_view bytes) {
  absl::StatusOr<SegmentName> name = SegmentName::FromBytes(bytes);
  if (!name.ok()) return name.status();
  absl::StatusOr<std::shared_ptr<Segment>> segment = Segment::Open(*name, SegmentKind::kHostMemory);
  if (!segment.ok()) return segment.status();
  void* data = (*segment)->data();
  const size_t nbytes = (*segment)->nbytes();
  return OpenedMemory{.data = data,
                      .nbytes = nbytes,
                      .device = Device::Cpu(),
                      .release = {&LetGo, Hold(*std::move(segment))}};
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
