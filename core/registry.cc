#include "dovetail/core/registry.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

constinit std::atomic<bool> host_gives_small_blocks = false;

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
  Allocator* found = nullptr;
  DeviceBackend* backend = Find(DeviceType::kCpu);
  if (backend != nullptr && backend->AllocatorNames(Device::Cpu(), kKind).size() <= 1 &&
      backend->MemoryDevice(Device::Cpu(), kKind) == Device::Cpu()) {
    found = backend->GetAllocator(Device::Cpu(), kKind).value_or(nullptr);
  }
  host_allocator_.store(found, std::memory_order_release);
  if (this == &Shared()) {
    host_gives_small_blocks.store(found != nullptr && found->gives_small_blocks(),
                                  std::memory_order_release);
  }
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

}  // namespace

absl::StatusOr<DeviceBackend*> BackendFor(Device device) {
  if (DeviceBackend* backend = Registry::Shared().Find(device.type)) return backend;
  const char* const can = IsHostAccessible(device.type) && device.type != DeviceType::kCpu
                              ? "passed on and read, but not allocated or copied; "
                              : "passed on, but not allocated, copied or read; ";
  return absl::NotFoundError(absl::StrCat("No backend serves ", device.ToString(),
                                          ". Its memory can be ", can, RemedyFor(device.type)));
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
  registry_.FindHostAllocator();
}

ScopedBackendOverride::~ScopedBackendOverride() {
  size_t i = 0;
  for (DeviceType type : backend_->device_types()) {
    registry_.entries_[static_cast<uint32_t>(type)].store(previous_[i++],
                                                          std::memory_order_release);
  }
  registry_.FindHostAllocator();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
