#include "dovetail/core/device_backend.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

absl::Status DeviceBackend::SelectAllocator(Device device, MemoryKind kind, std::string_view name) {
  const std::vector<std::string> names = AllocatorNames(device, kind);
  return absl::InvalidArgumentError(
      absl::StrCat("There is no allocator \"", name, "\" on ", device.ToString(), "; there ",
                   names.empty() ? "is nothing to choose from"
                                 : absl::StrCat("are: ", absl::StrJoin(names, ", ")),
                   "."));
}

absl::Status DeviceBackend::OrderBefore(Uses& uses, const Stream& consumer) {
  for (const Uses::Use& use : uses.streams()) {
    if (use.stream == consumer) continue;
    absl::StatusOr<Event> event = Record(use.stream);
    if (!event.ok()) return event.status();
    if (absl::Status s = Wait(consumer, *event); !s.ok()) return s;
  }
  for (const Event& event : uses.events()) {
    if (absl::Status s = Wait(consumer, event); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status DeviceBackend::WaitForeign(const Stream&, const void*) {
  return absl::UnimplementedError(
      absl::StrCat("The backend ", name(), " can't wait for events of other libraries."));
}

absl::Status DeviceBackend::HostWait(const Event& event) {
  while (true) {
    absl::StatusOr<bool> done = Query(event);
    if (!done.ok()) return done.status();
    if (*done) return absl::OkStatus();
    std::this_thread::yield();
  }
}

absl::StatusOr<MemoryShare> DeviceBackend::ShareMemory(Device device, void*, size_t, const Uses*,
                                                       const Stream&) {
  return absl::UnimplementedError(absl::StrCat("The backend ", name(), " can't share memory of ",
                                               device.ToString(), " with other processes."));
}

absl::StatusOr<OpenedMemory> DeviceBackend::OpenMemory(DeviceType, std::string_view) {
  return absl::UnimplementedError(
      absl::StrCat("The backend ", this->name(), " can't open memory of other processes."));
}

void DeviceBackend::ReleaseAfter(std::unique_ptr<Uses>, Release release) noexcept {
  if (release.function != nullptr) release.function(release.context);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
