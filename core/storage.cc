#include "dovetail/core/storage.h"

#include <memory>
#include <new>
#include <utility>

#include "dovetail/core/allocator.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/blocks/small_blocks.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/traced.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using internal_storage::StorageAccess;
using internal_trace::Traced;

namespace {

TraceEvent AllocationEvent(size_t nbytes, Device device) {
  return {.kind = TraceKind::kAllocate, .nbytes = static_cast<int64_t>(nbytes), .device = device};
}

// An order or a wait, with the streams that are waited for.
struct UsesEvent : TraceEvent {
  UsesEvent(TraceKind kind, const Storage& storage, const Stream* waiting)
      : TraceEvent{.kind = kind,
                   .nbytes = static_cast<int64_t>(storage.nbytes()),
                   .device = storage.device(),
                   .stream = waiting},
        streams(storage.used_on()) {
    awaited = streams;
  }
  UsesEvent(const UsesEvent&) = delete;
  UsesEvent& operator=(const UsesEvent&) = delete;

  const absl::InlinedVector<Stream, 2> streams;
};

// Has the host wait for the work of other backends than `own`, and drops it from `uses`: `own`
// could not wait for it. A wait that fails is one for work that will not go on; of a device that no
// backend serves, nothing is known.
void AwaitOthers(Uses* uses, const DeviceBackend* own) {
  const auto is_own = [own](DeviceType type) { return own != nullptr && own->Serves(type); };
  if (!uses->HasOthers(is_own)) [[likely]]
    return;
  uses->DropStreams([&](const Uses::Use& use) {
    const DeviceType type = use.stream.device().type;
    if (is_own(type)) return false;
    if (use.kind == UseKind::kWork && FindServing(type) != nullptr) (void)AwaitOnHost(use.stream);
    return true;
  });
  uses->DropEvents([&](const Event& event) {
    const DeviceType type = event.device().type;
    if (is_own(type)) return false;
    if (FindServing(type) != nullptr) (void)AwaitOnHost(event);
    return true;
  });
}

}  // namespace

StorageRef Storage::Adopt(void* data, size_t nbytes, Device device, Release release) {
  return StorageAccess::Adopt(data, nbytes, device, release);
}

absl::StatusOr<StorageRef> Storage::Allocate(size_t nbytes, Device device, MemoryKind kind) {
  const auto allocate = [=]() __attribute__((always_inline)) -> absl::StatusOr<StorageRef> {
    if (device == Device::Cpu() && kind == MemoryKind::kDevice) {
      SmallBlock* const block = StorageAccess::IsSmall(nbytes) ? TakeSmallBlock(nbytes) : nullptr;
      if (block != nullptr) return StorageRef::Take(StorageAccess::In(block, nbytes));
      if (Allocator* allocator = Registry::Shared().host_allocator()) {
        return AllocateFrom(*allocator, nbytes, device, Stream::Default(device));
      }
    }
    const Stream stream = CurrentStream(device);
    return AllocateOn(nbytes, device, stream, kind);
  };
  return Traced([=] { return AllocationEvent(nbytes, device); }, allocate);
}

absl::StatusOr<StorageRef> Storage::Allocate(size_t nbytes, const Stream& stream, MemoryKind kind) {
  return Traced([&] { return AllocationEvent(nbytes, stream.device()); },
                [&] { return AllocateOn(nbytes, stream.device(), stream, kind); });
}

absl::StatusOr<StorageRef> Storage::AllocateOn(size_t nbytes, Device device, const Stream& stream,
                                               MemoryKind kind) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(device);
  if (!backend.ok()) return backend.status();
  Allocator* allocator = Registry::Shared().FindSetAllocator(device, kind);
  if (allocator == nullptr) {
    absl::StatusOr<Allocator*> own = (*backend)->GetAllocator(device, kind);
    if (!own.ok()) return own.status();
    allocator = *own;
  }
  return AllocateFrom(*allocator, nbytes, (*backend)->MemoryDevice(device, kind), stream);
}

absl::StatusOr<StorageRef> Storage::AllocateFrom(Allocator& allocator, size_t nbytes, Device device,
                                                 const Stream& stream) {
  // The Storage is made first: a failure after the allocation would leak the memory.
  StorageRef storage = Adopt(nullptr, nbytes, device, {});
  const bool is_ordered = !IsHostAccessible(storage->device().type);
  if (is_ordered) storage->GetUses();
  absl::StatusOr<void*> data = allocator.Allocate(nbytes, stream);
  if (!data.ok()) return data.status();
  storage->data_ = *data;
  storage->owner_ = Owner::kAllocator;
  storage->allocator_ = &allocator;
  if (is_ordered) storage->RecordUse(stream);
  return storage;
}

Uses* Storage::GetUses() {
  Uses* uses = uses_.load(std::memory_order_acquire);
  if (uses != nullptr) return uses;
  auto mine = std::make_unique<Uses>();
  if (uses_.compare_exchange_strong(uses, mine.get(), std::memory_order_acq_rel)) {
    return mine.release();
  }
  return uses;
}

// If there is no memory to record the use, it is unknown; without a Uses the host waits for the
// work. If it can't, the memory is never given back, rather than reused too early.
template <typename Record, typename Await>
void Storage::RecordOrAwait(Record record, Await await) noexcept {
  DOVETAIL_TRY { return record(GetUses()); }
  DOVETAIL_CATCH(...) {}
  if (Uses* uses = uses_.load(std::memory_order_acquire)) return uses->AddUnknown();
  DOVETAIL_TRY {
    if (await().ok()) return;
  }
  DOVETAIL_CATCH(...) {}
  refs_.Add();
}

void Storage::RecordUse(const Stream& stream, UseKind kind) noexcept {
  if (device_.type == DeviceType::kCpu) return;
  const auto record = [&](Uses* uses) {
    DeviceBackend* backend = FindServing(stream.device().type);
    if (stream.is_lasting() || backend == nullptr) return uses->AddStream(stream, kind);
    constexpr size_t kManyEvents = 8;
    if (uses->events().size() >= kManyEvents) {
      uses->DropEvents([](const Event& e) { return HasHappened(e).value_or(false); });
    }
    absl::StatusOr<Event> event = backend->Record(stream);
    if (event.ok()) {
      uses->AddEvent(*std::move(event));
    } else {
      uses->AddUnknown();
    }
  };
  RecordOrAwait(record, [&] { return AwaitOnHost(stream); });
}

void Storage::RecordUse(Event event) noexcept {
  RecordOrAwait([&](Uses* uses) { uses->AddEvent(event); }, [&] { return AwaitOnHost(event); });
}

absl::Status Storage::Share(const std::optional<Stream>& consumer) {
  if (device_.type == DeviceType::kCpu) return absl::OkStatus();
  if (consumer) {
    if (absl::Status s = OrderBefore(*consumer); !s.ok()) return s;
  } else if (FindServing(device_.type) == nullptr) {
    return absl::OkStatus();  // no backend reuses the memory
  }
  if (consumer && consumer->is_lasting()) {
    GetUses()->AddStream(*consumer, UseKind::kWork);
  } else {
    GetUses()->AddUnknown();
  }
  return absl::OkStatus();
}

absl::Status Storage::OrderBefore(const Stream& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(stream.device());
  if (!backend.ok()) return backend.status();
  Uses* uses = uses_.load(std::memory_order_acquire);
  if (uses == nullptr) return absl::OkStatus();
  return Traced([&] { return UsesEvent(TraceKind::kOrder, *this, &stream); },
                [&] { return (*backend)->OrderBefore(*uses, stream); });
}

absl::Status Storage::Synchronize() {
  Uses* uses = uses_.load(std::memory_order_acquire);
  if (uses == nullptr) return absl::OkStatus();
  return Traced([&] { return UsesEvent(TraceKind::kWait, *this, nullptr); },
                [&] { return SynchronizeAll(*uses); });
}

absl::Status Storage::SynchronizeAll(const Uses& uses) {
  for (const Uses::Use& use : uses.streams()) {
    if (absl::Status s = AwaitOnHost(use.stream); !s.ok()) return s;
  }
  for (const Event& event : uses.events()) {
    if (absl::Status s = AwaitOnHost(event); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::InlinedVector<Stream, 2> Storage::used_on() const {
  absl::InlinedVector<Stream, 2> streams;
  if (const Uses* uses = this->uses(); uses != nullptr) {
    for (const Uses::Use& use : uses->streams()) streams.push_back(use.stream);
  }
  return streams;
}

void Storage::Destroy() noexcept {
  if (owner_ == Owner::kSmallBlock && uses() == nullptr) [[likely]]
    return GiveSmallBlock(SmallBlock::OfHeader(this), nbytes_);
  DestroyUnkept();
}

// Not inlined: the path of small blocks then needs no stack frame.
[[gnu::noinline]] void Storage::DestroyUnkept() noexcept {
  if (uses() != nullptr) [[unlikely]] {
    const bool given_back = GiveBackAfterUses();
    if (owner_ == Owner::kSmallBlock) {
      if (given_back) GiveSmallBlock(SmallBlock::OfHeader(this), nbytes_);
      return;
    }
  } else if (owner_ == Owner::kAllocator) {
    allocator_->Deallocate(data_, nbytes_, nullptr);
  } else if (release_.function != nullptr) {
    release_.function(release_.context);
  }
  FreeBlock<sizeof(Storage)>(this);
}

// False if there was no memory to wait for the uses: the memory is leaked then.
bool Storage::GiveBackAfterUses() noexcept {
  std::unique_ptr<Uses> uses(uses_.exchange(nullptr, std::memory_order_acq_rel));
  DOVETAIL_TRY { AwaitOthers(uses.get(), Registry::Shared().Find(StreamDevice(device_).type)); }
  DOVETAIL_CATCH(...) { return false; }
  if (owner_ == Owner::kAllocator) {
    allocator_->Deallocate(data_, nbytes_, std::move(uses));
  } else if (release_.function != nullptr) {
    DeviceBackend* backend = uses->has_work() ? FindServing(StreamDevice(device_).type) : nullptr;
    if (backend != nullptr) {
      backend->ReleaseAfter(std::move(uses), release_);
    } else {
      release_.function(release_.context);
    }
  }
  return true;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
