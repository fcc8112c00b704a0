#include "dovetail/core/internal/source_allocator.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_registry {

bool CountedSource::Hold() noexcept {
  int64_t holders = holders_.load(std::memory_order_relaxed);
  while (holders != 0) {
    if (holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void CountedSource::LetGo() noexcept {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) source_.reset();
}

absl::StatusOr<void*> CountedSource::Allocate(size_t nbytes, const Stream& stream) {
  absl::StatusOr<void*> data = source_->Allocate(nbytes, stream);
  if (!data.ok()) return data;
  if (*data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the program's allocator returned NULL for ", nbytes, " bytes"));
  }
  const auto address = reinterpret_cast<uintptr_t>(*data);
  const bool is_address = IsAddressable(stream.device().type);  // else it is a handle
  if (is_address && address % kAllocationAlignment != 0) {
    source_->Deallocate(*data, nbytes, stream);
    return absl::InvalidArgumentError(
        absl::StrCat("The program's allocator returned the address 0x", absl::Hex(address), " for ",
                     nbytes, " bytes on ", stream.device().ToString(),
                     ". Memory of tensors is aligned to ", kAllocationAlignment, " bytes."));
  }
  holders_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void CountedSource::Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept {
  source_->Deallocate(data, nbytes, stream);
  LetGo();
}

absl::StatusOr<std::unique_ptr<SourceAllocator>> SourceAllocator::Make(
    DeviceBackend& backend, Device device, MemoryKind kind, std::unique_ptr<MemorySource> source) {
  std::unique_ptr<SourceAllocator> made(
      new SourceAllocator(backend, device, kind, std::move(source)));
  absl::StatusOr<std::unique_ptr<Allocator>> allocator =
      backend.MakeAllocator(device, kind, made->source_);
  if (!allocator.ok()) return allocator.status();
  made->allocator_ = *std::move(allocator);
  return made;
}

absl::StatusOr<void*> SourceAllocator::Allocate(size_t nbytes, const Stream& stream) {
  if (nbytes == 0) return nullptr;
  if (!source_.Hold()) [[unlikely]]
    return AllocateElsewhere(nbytes, stream);
  absl::StatusOr<void*> data = allocator_->Allocate(nbytes, stream);
  source_.LetGo();
  return data;
}

absl::StatusOr<void*> SourceAllocator::AllocateElsewhere(size_t nbytes, const Stream& stream) {
  absl::StatusOr<Allocator*> other = backend_.GetAllocator(device_, kind_);
  if (!other.ok()) return other.status();
  absl::StatusOr<void*> data = (*other)->Allocate(nbytes, stream);
  if (!data.ok()) return data;
  DOVETAIL_TRY {
    absl::MutexLock lock(&mutex_);
    elsewhere_.emplace_back(*data, *other);
    elsewhere_count_.fetch_add(1, std::memory_order_relaxed);
    return data;
  }
  DOVETAIL_CATCH(const std::bad_alloc&){}(*other)->Deallocate(*data, nbytes, nullptr);
  return absl::ResourceExhaustedError("There is no memory to record an allocation.");
}

Allocator* SourceAllocator::TakeElsewhere(void* data) noexcept {
  absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(elsewhere_.begin(), elsewhere_.end(),
                                  [data](const auto& entry) { return entry.first == data; });
  if (found == elsewhere_.end()) return nullptr;
  Allocator* const allocator = found->second;
  *found = elsewhere_.back();
  elsewhere_.pop_back();
  elsewhere_count_.fetch_sub(1, std::memory_order_relaxed);
  return allocator;
}

void SourceAllocator::Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept {
  if (data == nullptr) return;
  Allocator* allocator = nullptr;
  if (elsewhere_count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
    allocator = TakeElsewhere(data);
  if (allocator == nullptr) allocator = allocator_.get();
  allocator->Deallocate(data, nbytes, std::move(uses));
}

namespace {

// For a backend without an allocator of its own for sources: memory goes back through the backend's
// ReleaseAfter, and a second attempt follows a trim of the backend's own allocator.
class PlainSourceAllocator final : public Allocator {
 public:
  PlainSourceAllocator(DeviceBackend& backend, Allocator& own, Device device, MemorySource& source)
      : backend_(backend), own_(own), device_(device), source_(source) {}

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    if (nbytes == 0) return nullptr;
    absl::StatusOr<void*> data = source_.Allocate(nbytes, stream);
    if (absl::IsResourceExhausted(data.status())) {
      retries_.fetch_add(1, std::memory_order_relaxed);
      (void)own_.Trim(0);  // what fails there fails below, too
      data = source_.Allocate(nbytes, stream);
    }
    if (absl::IsResourceExhausted(data.status())) {
      return absl::ResourceExhaustedError(
          absl::StrCat("Out of memory on ", device_.ToString(), ": ", nbytes,
                       " bytes could not be allocated (", data.status().message(), ")."));
    }
    if (!data.ok()) return data;
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const auto size = static_cast<int64_t>(nbytes);
    reserved_.fetch_add(size, std::memory_order_relaxed);
    RaisePeak(peak_, allocated_.fetch_add(size, std::memory_order_relaxed) + size);
    return data;
  }

  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override {
    if (data == nullptr) return;
    allocated_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
    if (uses == nullptr) return GiveBack(data, nbytes);
    // Without memory to wait for the uses, the block is leaked rather than reused too early.
    auto* const block = new (std::nothrow) Block{this, data, nbytes};
    if (block == nullptr) return;
    DOVETAIL_TRY {
      // A stream that waited for the memory may use it; the source reuses it in any order.
      for (const Uses::Use& use : uses->streams()) uses->AddStream(use.stream, UseKind::kWork);
    }
    DOVETAIL_CATCH(...) {
      delete block;
      return;
    }
    backend_.ReleaseAfter(std::move(uses), {&GiveBlockBack, block});
  }

  absl::Status Trim(size_t keep) override { return own_.Trim(keep); }

  AllocatorStats Stats() override {
    return {.allocated_bytes = allocated_.load(std::memory_order_relaxed),
            .peak_bytes = peak_.load(std::memory_order_relaxed),
            .reserved_bytes = reserved_.load(std::memory_order_relaxed),
            .allocations = allocations_.load(std::memory_order_relaxed),
            .retries = retries_.load(std::memory_order_relaxed)};
  }

 private:
  struct Block {
    PlainSourceAllocator* allocator;
    void* data;
    size_t nbytes;
  };
  static void GiveBlockBack(void* context) {
    const std::unique_ptr<Block> block(static_cast<Block*>(context));
    block->allocator->GiveBack(block->data, block->nbytes);
  }
  void GiveBack(void* data, size_t nbytes) noexcept {
    reserved_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
    source_.Deallocate(data, nbytes, Stream::Default(StreamDevice(device_)));
  }

  DeviceBackend& backend_;
  Allocator& own_;
  const Device device_;
  MemorySource& source_;
  std::atomic<int64_t> allocated_{0}, peak_{0}, reserved_{0}, allocations_{0}, retries_{0};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Allocator>> MakePlainSourceAllocator(DeviceBackend& backend,
                                                                    Device device, MemoryKind kind,
                                                                    MemorySource& source) {
  if (kind == MemoryKind::kShared) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Memory that other processes open can't be a program's own on ", device.ToString(), "."));
  }
  absl::StatusOr<Allocator*> own = backend.GetAllocator(device, kind);
  if (!own.ok()) return own.status();
  return std::make_unique<PlainSourceAllocator>(backend, **own, device, source);
}

}  // namespace internal_registry
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
