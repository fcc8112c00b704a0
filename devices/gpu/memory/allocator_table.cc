#include "dovetail/devices/gpu/memory/allocator_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dovetail/devices/gpu/memory/caching_allocator.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

struct Source {
  std::string_view name;
  AllocatorSource source;
  MemoryKind kind;
};
constexpr Source kSources[] = {
    {"async", AllocatorSource::kAsync, MemoryKind::kDevice},
    {"direct", AllocatorSource::kDirect, MemoryKind::kDevice},
    {"pinned", AllocatorSource::kPinned, MemoryKind::kPinnedHost},
    {"managed", AllocatorSource::kManaged, MemoryKind::kManaged},
    // The IPC handles that all drivers support can't share a pool's memory.
    {"direct", AllocatorSource::kDirect, MemoryKind::kShared},
};

}  // namespace

MemoryKind AllocatorTable::KindOf(Device device, MemoryKind kind) const {
  if (kind == MemoryKind::kShared) return kind;
  const VendorTraits& vendor = context_.runtime.vendor();
  if (device.type == vendor.pinned && vendor.pinned != vendor.device)
    return MemoryKind::kPinnedHost;
  if (vendor.managed && device.type == *vendor.managed) return MemoryKind::kManaged;
  return kind;
}

std::vector<std::string> AllocatorTable::Names(Device device, MemoryKind kind) {
  std::vector<std::string> names;
  if (!context_.runtime.CheckDevice(device).ok()) return names;
  if (kind == MemoryKind::kShared && device.type != context_.runtime.vendor().device) return names;
  if (kind == MemoryKind::kShared && context_.runtime.api().ipc_memory_handle == nullptr) {
    return names;
  }
  kind = KindOf(device, kind);
  const DeviceInfo& info = context_.runtime.Info(StreamDevice(device).index);
  for (const Source& source : kSources) {
    if (source.kind != kind) continue;
    if (source.source == AllocatorSource::kAsync && !info.has_pools) continue;
    if (source.source == AllocatorSource::kManaged && !info.has_managed) continue;
    names.emplace_back(source.name);
  }
  const size_t plain = names.size();
  for (size_t i = 0; i < plain; ++i) names.push_back(absl::StrCat("caching(", names[i], ")"));
  if (context_.runtime.vendor().caches_by_default) {
    std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(plain), names.end());
  }
  return names;
}

GpuAllocator* AllocatorTable::Find(int device, MemoryKind kind, std::string_view name) {
  const std::string key = absl::StrCat(device, "/", name);
  if (const auto found = made_.find(key); found != made_.end()) return found->second.get();
  std::unique_ptr<GpuAllocator> made;
  std::string_view base = name;
  if (absl::ConsumePrefix(&base, "caching(") && absl::ConsumeSuffix(&base, ")")) {
    made = std::make_unique<CachingAllocator>(
        *Find(device, kind, base),
        absl::StrCat(context_.runtime.DeviceAt(device).ToString(), ", allocator ", name));
  } else {
    const auto* source =
        std::find_if(std::begin(kSources), std::end(kSources),
                     [name](const Source& candidate) { return candidate.name == name; });
    made = MakeAllocator(context_, *this, source->source, device);
  }
  return (made_[key] = std::move(made)).get();
}

absl::StatusOr<Allocator*> AllocatorTable::Get(Device device, MemoryKind kind) {
  if (absl::Status s = context_.runtime.CheckDevice(device); !s.ok()) return s;
  const MemoryKind wanted = kind;
  kind = KindOf(device, kind);
  const int index = StreamDevice(device).index;
  const int slot = index * kKinds + static_cast<int>(kind);
  const bool has_slot = index < kMostDevices;
  // "cuda_host" counts as device 0, but has none of its shared memory.
  const bool may_have = wanted != MemoryKind::kShared || device == StreamDevice(device);
  if (has_slot && may_have) {
    if (Allocator* current = current_[slot].load(std::memory_order_acquire)) return current;
  }
  const std::vector<std::string> names = Names(device, wanted);
  if (names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        device.ToString(),
        " has no memory of that kind (managed memory needs a device that the host may share it "
        "with; shared memory is on the CPU or on a device proper)."));
  }
  absl::MutexLock lock(&mutex_);
  Allocator* allocator = Find(index, kind, names.front());
  if (has_slot) {
    Allocator* none = nullptr;
    if (!current_[slot].compare_exchange_strong(none, allocator)) return none;
  }
  return allocator;
}

absl::Status AllocatorTable::Select(Device device, MemoryKind kind, std::string_view name) {
  if (absl::Status s = context_.runtime.CheckDevice(device); !s.ok()) return s;
  kind = KindOf(device, kind);
  const std::vector<std::string> names = Names(device, kind);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("There is no allocator \"", name, "\" on ", device.ToString(),
                     "; there are: ", absl::StrJoin(names, ", "), "."));
  }
  const int index = StreamDevice(device).index;
  if (index >= kMostDevices) {
    return absl::UnimplementedError(
        absl::StrCat("Allocators can be chosen for the first ", kMostDevices, " devices."));
  }
  absl::MutexLock lock(&mutex_);
  current_[index * kKinds + static_cast<int>(kind)].store(Find(index, kind, name));
  return absl::OkStatus();
}

absl::Status AllocatorTable::CheckNoCapture() {
  if (!context_.streams.MayCapture()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "Memory can't be trimmed while a stream is captured into a graph.");
}

absl::Status AllocatorTable::Reduce(const GpuAllocator& keeper, size_t keep) {
  if (absl::Status s = CheckNoCapture(); !s.ok()) return s;
  std::vector<GpuAllocator*> of_device;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [key, allocator] : made_) {
      if (allocator->device() == keeper.device()) of_device.push_back(allocator.get());
    }
  }
  // First those that return their memory to others.
  std::partition(of_device.begin(), of_device.end(),
                 [](GpuAllocator* allocator) { return allocator->base() != nullptr; });
  context_.releaser.Flush();
  absl::Status status;
  for (GpuAllocator* allocator : of_device) {
    // Again each time: a flush may have found one of the memory's streams in a capture.
    if (absl::Status s = CheckNoCapture(); !s.ok()) return s;
    status.Update(allocator->Reduce(allocator == &keeper ? keep : 0));
  }
  return status;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
