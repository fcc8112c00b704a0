#include "dovetail/core/device_backend.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/core/internal/source_allocator.h"
#include "dovetail/core/registry.h"

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

absl::StatusOr<std::unique_ptr<Allocator>> DeviceBackend::MakeAllocator(Device device,
                                                                        MemoryKind kind,
                                                                        MemorySource& source) {
  return internal_registry::MakePlainSourceAllocator(*this, device, kind, source);
}

bool DeviceBackend::Serves(DeviceType type) const {
  const absl::Span<const DeviceType> types = device_types();
  return std::find(types.begin(), types.end(), type) != types.end();
}

absl::Status DeviceBackend::OrderBefore(Uses& uses, const Stream& consumer) {
  const auto order_stream = [&](const Stream& stream) {
    if (!Serves(stream.device().type)) return AwaitOnHost(stream);
    absl::StatusOr<Event> event = Record(stream);
    return event.ok() ? Wait(consumer, *event) : event.status();
  };
  for (const Uses::Use& use : uses.streams()) {
    if (use.stream == consumer) continue;
    if (absl::Status s = order_stream(use.stream); !s.ok()) return s;
  }
  for (const Event& event : uses.events()) {
    const bool is_own = Serves(event.device().type);
    if (absl::Status s = is_own ? Wait(consumer, event) : AwaitOnHost(event); !s.ok()) return s;
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

// (A wait that fails is one for work that will not go on. Without memory to wait, the lender's
// memory is leaked rather than returned too early.)
void DeviceBackend::ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept {
  DOVETAIL_TRY {
    uses->DropStreams([this](const Uses::Use& use) {
      if (use.kind == UseKind::kWork) (void)Synchronize(use.stream);
      return true;
    });
    uses->DropEvents([this](const Event& event) {
      (void)HostWait(event);
      return true;
    });
  }
  DOVETAIL_CATCH(...) { return; }
  if (release.function != nullptr) release.function(release.context);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
