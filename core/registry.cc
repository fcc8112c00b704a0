#include "dovetail/core/registry.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/source_allocator.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using internal_registry::SourceAllocator;

constinit std::atomic<bool> host_gives_small_blocks = false;

struct internal_registry::SetAllocator {
  const Device device;
  const MemoryKind kind;
  SetAllocator* const next;
  std::atomic<Allocator*> allocator = nullptr;
  SourceAllocator* source = nullptr;  // if `allocator` is one; guarded by the registry's mutex_
};

namespace {

// Pinned and managed memory is found by its own device types and by its kind alike.
std::pair<Device, MemoryKind> PlaceOf(Device device, MemoryKind kind) {
  const Device of_streams = StreamDevice(device);
  if (of_streams == device || kind == MemoryKind::kShared) return {device, kind};
  const bool is_managed = device.type == DeviceType::kCudaManaged;
  return {of_streams, is_managed ? MemoryKind::kManaged : MemoryKind::kPinnedHost};
}

absl::Status NoBackendFor(Device device);

}  // namespace

Registry::Registry() = default;

Registry::~Registry() {
  SetEntry* entry = set_.load(std::memory_order_acquire);
  while (entry != nullptr) {
    if (entry->source != nullptr) entry->source->Retire();
    delete std::exchange(entry, entry->next);
  }
}

Registry& Registry::Shared() {
  static Registry* const registry = new Registry();
  return *registry;
}

absl::Status Registry::Register(std::unique_ptr<DeviceBackend> backend) {
  if (backend == nullptr) {
    return absl::InvalidArgumentError("There is no backend to register (nullptr).");
  }
  absl::MutexLock lock(&mutex_);
  for (DeviceType type : backend->device_types()) {
    auto i = static_cast<uint32_t>(type);
    if (i >= kMaxDeviceTypes) {
      return absl::InvalidArgumentError(
          absl::StrCat("The backend ", backend->name(), " serves ", DeviceTypeName(type),
                       "; device types go up to ", kMaxDeviceTypes - 1, "."));
    }
    if (DeviceBackend* other = Find(type)) {
      return absl::AlreadyExistsError(absl::StrCat("The backend ", backend->name(), " serves ",
                                                   DeviceTypeName(type), ", which the backend ",
                                                   other->name(), " serves already."));
    }
  }
  owned_.push_back(std::move(backend));
  for (DeviceType type : owned_.back()->device_types()) {
    entries_[static_cast<uint32_t>(type)].store(owned_.back().get(), std::memory_order_release);
    if (type == DeviceType::kCpu) FindHostAllocator();
  }
  return absl::OkStatus();
}

void Registry::FindHostAllocator() {
  constexpr MemoryKind kKind = MemoryKind::kDevice;
  Allocator* found = FindSetAllocator(Device::Cpu(), kKind);
  DeviceBackend* backend = Find(DeviceType::kCpu);
  if (found == nullptr && backend != nullptr &&
      backend->AllocatorNames(Device::Cpu(), kKind).size() <= 1 &&
      backend->MemoryDevice(Device::Cpu(), kKind) == Device::Cpu()) {
    found = backend->GetAllocator(Device::Cpu(), kKind).value_or(nullptr);
  }
  host_allocator_.store(found, std::memory_order_release);
  if (this == &Shared()) {
    host_gives_small_blocks.store(found != nullptr && found->gives_small_blocks(),
                                  std::memory_order_release);
  }
}

absl::StatusOr<DeviceBackend*> Registry::FindBackend(Device device) const {
  if (DeviceBackend* backend = Find(device.type)) return backend;
  return NoBackendFor(device);
}

absl::StatusOr<Allocator*> Registry::GetAllocator(Device device, MemoryKind kind) const {
  if (Allocator* allocator = FindSetAllocator(device, kind)) return allocator;
  absl::StatusOr<DeviceBackend*> backend = FindBackend(device);
  return backend.ok() ? (*backend)->GetAllocator(device, kind) : backend.status();
}

Registry::SetEntry* Registry::FindEntry(Device device, MemoryKind kind) const {
  const std::pair<Device, MemoryKind> place = PlaceOf(device, kind);
  SetEntry* entry = set_.load(std::memory_order_acquire);
  while (entry != nullptr && (entry->device != place.first || entry->kind != place.second)) {
    entry = entry->next;
  }
  return entry;
}

Allocator* Registry::FindSet(Device device, MemoryKind kind) const {
  const SetEntry* entry = FindEntry(device, kind);
  return entry != nullptr ? entry->allocator.load(std::memory_order_acquire) : nullptr;
}

absl::Status Registry::SetAllocator(Device device, MemoryKind kind, Allocator* allocator) {
  absl::StatusOr<DeviceBackend*> backend = FindBackend(device);
  if (!backend.ok()) return backend.status();
  absl::StatusOr<Allocator*> own = (*backend)->GetAllocator(device, kind);
  if (!own.ok()) return own.status();
  Set(device, kind, allocator, nullptr);
  return absl::OkStatus();
}

absl::Status Registry::SetMemorySource(Device device, MemoryKind kind,
                                       std::unique_ptr<MemorySource> source) {
  if (source == nullptr) {
    return absl::InvalidArgumentError("There is no source of memory to set (nullptr).");
  }
  absl::StatusOr<DeviceBackend*> backend = FindBackend(device);
  if (!backend.ok()) return backend.status();
  absl::StatusOr<std::unique_ptr<SourceAllocator>> made =
      SourceAllocator::Make(**backend, device, kind, std::move(source));
  if (!made.ok()) return made.status();
  SourceAllocator* const allocator = made->get();
  Set(device, kind, allocator, *std::move(made));
  return absl::OkStatus();
}

void Registry::Set(Device device, MemoryKind kind, Allocator* allocator,
                   std::unique_ptr<SourceAllocator> source) {
  SourceAllocator* previous = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    SetEntry* entry = FindEntry(device, kind);
    if (entry == nullptr) {
      if (allocator == nullptr) return;
      const std::pair<Device, MemoryKind> place = PlaceOf(device, kind);
      entry = new SetEntry{place.first, place.second, set_.load()};
      set_.store(entry, std::memory_order_release);
    }
    previous = std::exchange(entry->source, source.get());
    if (source != nullptr) sources_.push_back(std::move(source));
    entry->allocator.store(allocator, std::memory_order_release);
    if (device.type == DeviceType::kCpu) FindHostAllocator();
  }
  if (previous != nullptr) previous->Retire();  // may call the program: without the lock
}

std::vector<DeviceBackend*> Registry::Backends() const {
  absl::MutexLock lock(&mutex_);
  std::vector<DeviceBackend*> backends;
  backends.reserve(owned_.size());
  for (const auto& backend : owned_) backends.push_back(backend.get());
  return backends;
}

DeviceBackend* FindServing(DeviceType type) {
  DeviceBackend* backend = Registry::Shared().Find(type);
  if (backend == nullptr || type == DeviceType::kCpu) return backend;
  const absl::StatusOr<int> count = backend->DeviceCount();
  return count.ok() && *count > 0 ? backend : nullptr;
}

namespace {

// How a backend of this repository's is registered, for programs in C++ and in Python.
std::string HowToRegister(std::string_view call) {
  const std::string folder = absl::AsciiStrToLower(call);
  return absl::StrCat("call Register", call, "Backend(Registry::Global()) of dovetail/devices/",
                      folder, "/backend.h (@dovetail//devices/", folder,
                      ") first (in Python: DOVETAIL_BACKENDS must not leave ", folder, " out).");
}

std::string RemedyFor(DeviceType type) {
  if (type == DeviceType::kCpu) {
    return "call RegisterDefaultBackends() first (in Python: DOVETAIL_BACKENDS must not leave cpu "
           "out).";
  }
  switch (StreamDevice({type, 0}).type) {
    case DeviceType::kCuda:
      return HowToRegister("Cuda");
    case DeviceType::kRocm:
      return HowToRegister("Rocm");
    case DeviceType::kOneApi:
      return HowToRegister("OneApi");
    default:
      return "register a backend for it first.";
  }
}

absl::Status NoBackendFor(Device device) {
  const char* const can = IsHostAccessible(device.type) && device.type != DeviceType::kCpu
                              ? "passed on and read, but not allocated or copied; "
                              : "passed on, but not allocated, copied or read; ";
  return absl::NotFoundError(absl::StrCat("No backend serves ", device.ToString(),
                                          ". Its memory can be ", can, RemedyFor(device.type)));
}

}  // namespace

absl::StatusOr<DeviceBackend*> BackendFor(Device device) {
  if (DeviceBackend* backend = Registry::Shared().Find(device.type)) return backend;
  return NoBackendFor(device);
}

absl::Status AwaitOnHost(const Event& event) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(event.device());
  return backend.ok() ? (*backend)->HostWait(event) : backend.status();
}

absl::Status AwaitOnHost(const Stream& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(stream.device());
  return backend.ok() ? (*backend)->Synchronize(stream) : backend.status();
}

absl::StatusOr<bool> HasHappened(const Event& event) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(event.device());
  if (!backend.ok()) return backend.status();
  return (*backend)->Query(event);
}

ScopedBackendOverride::ScopedBackendOverride(std::unique_ptr<DeviceBackend> backend,
                                             Registry& registry)
    : registry_(registry), backend_(std::move(backend)) {
  for (DeviceType type : backend_->device_types()) {
    auto& entry = registry_.entries_[static_cast<uint32_t>(type)];
    previous_.push_back(entry.exchange(backend_.get(), std::memory_order_acq_rel));
  }
  for (auto* entry = registry_.set_.load(); entry != nullptr; entry = entry->next) {
    if (!backend_->Serves(entry->device.type)) continue;
    Allocator* const allocator = entry->allocator.exchange(nullptr);
    set_aside_.push_back({entry, allocator, std::exchange(entry->source, nullptr)});
  }
  registry_.FindHostAllocator();
}

ScopedBackendOverride::~ScopedBackendOverride() {
  size_t i = 0;
  for (DeviceType type : backend_->device_types()) {
    registry_.entries_[static_cast<uint32_t>(type)].store(previous_[i++],
                                                          std::memory_order_release);
  }
  for (auto* entry = registry_.set_.load(); entry != nullptr; entry = entry->next) {
    if (!backend_->Serves(entry->device.type)) continue;
    entry->allocator.store(nullptr);
    if (SourceAllocator* source = std::exchange(entry->source, nullptr)) source->Retire();
  }
  for (const SetAside& aside : set_aside_) {
    aside.entry->source = aside.source;
    aside.entry->allocator.store(aside.allocator);
  }
  registry_.FindHostAllocator();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
